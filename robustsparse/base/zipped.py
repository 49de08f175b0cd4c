"""Archives that `save` writes and `load` reads: zip files of JSON and plain arrays."""

import zipfile
from collections.abc import Mapping
from pathlib import Path

from robustsparse.base.atomic import written_whole


def write_archive(path: str | Path, members: Mapping[str, str | bytes]) -> None:
    """Write an archive whole or not at all."""
    with (
        written_whole(path) as partial,
        zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        for name, content in members.items():
            archive.writestr(name, content)
