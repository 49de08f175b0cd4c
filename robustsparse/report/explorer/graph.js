"use strict";
// Names come from data, so they reach the page as text only, never as markup.
const graph = JSON.parse(document.getElementById("graph").textContent);
const [stage, canvas, tip, search, found, slider, count, status, chosen, groups] =
  ["stage", "network", "tip", "search", "found", "slider", "count", "status", "chosen", "groups"]
    .map((id) => document.getElementById(id));
const pen = canvas.getContext("2d");
const GREY = "#8c8c8c", LONGEST = 32, MOST_LABELS = 120, MOST_FOUND = 8, MOST_IN_TIP = 10, REACH = 9;

const nodes = graph.nodes.map((name, i) => ({
  i, name, x: graph.x[i], y: -graph.y[i], look: graph.looks[graph.look[i]], edges: [], key: name.toLowerCase(),
}));
// Strongest first, as they come.
const edges = graph.edges.map(([a, b, corr, weight, stability], rank) => ({
  a: nodes[a], b: nodes[b], corr, weight, stability, rank,
}));
for (const edge of edges) { edge.a.edges.push(edge); edge.b.edges.push(edge); }
const byDegree = [...nodes].sort((one, two) => two.edges.length - one.edges.length);

let shown = edges.length, selected = null, hovered = null, dirty = false;
let view = { scale: 1, dx: 0, dy: 0 };
const hidden = new Set(), pointers = new Map(), widths = new Map();

// ------------------------------------------------------------------------------------- words

const number = (value) => (value === null ? "unknown" : value.toFixed(2).replace("-", "\u2212"));
const element = (kind, text, className) => {
  const made = document.createElement(kind);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
};
const short = (name) => (name.length > LONGEST ? name.slice(0, LONGEST - 1) + "\u2026" : name);
const plural = (n, word) => `${n.toLocaleString("en")} ${word}${n === 1 ? "" : "s"}`;

// ------------------------------------------------------------------------- what can be seen

const isThere = (node) => !hidden.has(node.look);
const isDrawn = (edge) => edge.rank < shown && isThere(edge.a) && isThere(edge.b);
const other = (edge, node) => (edge.a === node ? edge.b : edge.a);
const tiesOf = (node) => node.edges.filter(isDrawn).sort((p, q) => Math.abs(q.corr) - Math.abs(p.corr));
const at = (node) => [node.x * view.scale + view.dx, node.y * view.scale + view.dy];
const radius = () => Math.min(Math.max(0.3 * view.scale, 2.5), 13);

function fit() {
  const xs = nodes.map((node) => node.x), ys = nodes.map((node) => node.y);
  const low = [Math.min(...xs), Math.min(...ys)], high = [Math.max(...xs), Math.max(...ys)];
  const room = [stage.clientWidth - 60, stage.clientHeight - 60];
  const scale = Math.min(room[0] / Math.max(high[0] - low[0], 1), room[1] / Math.max(high[1] - low[1], 1), 90);
  view = {
    scale,
    dx: stage.clientWidth / 2 - (scale * (low[0] + high[0])) / 2,
    dy: stage.clientHeight / 2 - (scale * (low[1] + high[1])) / 2,
  };
  redraw();
}

function zoom(factor, x = stage.clientWidth / 2, y = stage.clientHeight / 2) {
  const scale = Math.min(Math.max(view.scale * factor, 0.5), 400);
  const real = scale / view.scale;
  view = { scale, dx: x - (x - view.dx) * real, dy: y - (y - view.dy) * real };
  redraw();
}

function move(dx, dy) {
  view.dx += dx;
  view.dy += dy;
  redraw();
}

function center(node) {
  view.scale = Math.max(view.scale, 40);
  view.dx = stage.clientWidth / 2 - node.x * view.scale;
  view.dy = stage.clientHeight / 2 - node.y * view.scale;
  redraw();
}

// ---------------------------------------------------------------------------------- drawing

function redraw() {
  if (!dirty) requestAnimationFrame(draw);
  dirty = true;
}

function draw() {
  dirty = false;
  const dots = window.devicePixelRatio || 1, wide = stage.clientWidth, high = stage.clientHeight;
  if (canvas.width !== Math.round(wide * dots) || canvas.height !== Math.round(high * dots)) {
    canvas.width = Math.round(wide * dots);
    canvas.height = Math.round(high * dots);
  }
  pen.setTransform(dots, 0, 0, dots, 0, 0);
  pen.clearRect(0, 0, wide, high);
  const focus = (hovered && hovered.node) || selected;
  const near = new Set(focus ? [focus, ...tiesOf(focus).map((edge) => other(edge, focus))] : []);
  drawEdges(focus);
  drawNodes(focus, near);
  drawLabels(focus, near, wide, high);
}

function drawEdges(focus) {
  const crowd = 1 / Math.sqrt(Math.max(shown, 1));
  const alpha = Math.min(Math.max(16 * crowd, 0.3), 0.8), width = Math.min(Math.max(40 * crowd, 0.8), 1.6);
  const bundles = new Map();
  for (const edge of edges) {
    if (!isDrawn(edge) || edge.a === focus || edge.b === focus) continue;
    const color = edge.a.look === edge.b.look ? edge.a.look.color : GREY, key = color + (edge.corr < 0);
    if (!bundles.has(key)) bundles.set(key, { color, negative: edge.corr < 0, lines: [] });
    bundles.get(key).lines.push(edge);
  }
  for (const { color, negative, lines } of bundles.values()) stroke(lines, color, negative, focus ? 0.25 * alpha : alpha, width);
  if (!focus) { if (hovered && hovered.edge) stroke([hovered.edge], "#000", hovered.edge.corr < 0, 0.9, 2.5); return; }
  for (const edge of tiesOf(focus)) stroke([edge], focus.look.color, edge.corr < 0, 0.85, 1 + 5 * Math.abs(edge.corr));
}

function stroke(lines, color, negative, alpha, width) {
  pen.strokeStyle = color;
  pen.globalAlpha = alpha;
  pen.lineWidth = width;
  pen.setLineDash(negative ? [5, 4] : []);
  pen.beginPath();
  for (const { a, b } of lines) { pen.moveTo(...at(a)); pen.lineTo(...at(b)); }
  pen.stroke();
  pen.setLineDash([]);
  pen.globalAlpha = 1;
}

function drawNodes(focus, near) {
  const r = radius();
  pen.strokeStyle = "#fff";
  pen.lineWidth = Math.min(0.2 * r, 1.2);
  for (const node of nodes) {
    if (!isThere(node)) continue;
    pen.globalAlpha = focus && !near.has(node) ? 0.25 : 1;
    pen.fillStyle = node.look.color;
    outline(node.look.marker, ...at(node), node === focus ? 1.35 * r : r);
    pen.fill();
    pen.stroke();
  }
  pen.globalAlpha = 1;
}

function outline(marker, x, y, r) {
  pen.beginPath();
  if (marker === "s") pen.rect(x - 0.85 * r, y - 0.85 * r, 1.7 * r, 1.7 * r);
  else if (marker === "^") { pen.moveTo(x, y - r); pen.lineTo(x + r, y + 0.8 * r); pen.lineTo(x - r, y + 0.8 * r); pen.closePath(); }
  else if (marker === "D") { pen.moveTo(x, y - 1.1 * r); pen.lineTo(x + 1.1 * r, y); pen.lineTo(x, y + 1.1 * r); pen.lineTo(x - 1.1 * r, y); pen.closePath(); }
  else pen.arc(x, y, r, 0, 2 * Math.PI);
}

// Names that have room, those of the node in focus and of its neighbors, else by degree and off other nodes.
function drawLabels(focus, near, wide, high) {
  const taken = [], r = radius(), points = focus ? [] : nodes.filter(isThere).map(at);
  const inOrder = focus ? [focus, ...[...near].filter((node) => node !== focus)] : byDegree;
  pen.font = "12px system-ui, sans-serif";
  pen.textBaseline = "middle";
  for (const node of inOrder) {
    const [x, y] = at(node);
    if (taken.length >= MOST_LABELS) break;
    if (!isThere(node) || x < 0 || y < 0 || x > wide || y > high) continue;
    if (!widths.has(node)) widths.set(node, pen.measureText(short(node.name)).width);
    const box = [x + r + 2, y - 7, x + r + 4 + widths.get(node), y + 7];
    if (node !== focus && taken.some((b) => box[0] < b[2] && b[0] < box[2] && box[1] < b[3] && b[1] < box[3])) continue;
    if (points.some(([u, v]) => u > box[0] && u < box[2] && v > box[1] && v < box[3])) continue;
    taken.push(box);
    pen.lineWidth = 3;
    pen.strokeStyle = "#fffd";
    pen.strokeText(short(node.name), box[0], y);
    pen.fillStyle = "#222";
    pen.fillText(short(node.name), box[0], y);
  }
}

// ------------------------------------------------------------------------------------ hover

function under(x, y) {
  let best = null, least = Math.max(radius() + 2, REACH);
  for (const node of nodes) {
    if (!isThere(node)) continue;
    const [u, v] = at(node), away = Math.hypot(u - x, v - y);
    if (away < least) [best, least] = [{ node }, away];
  }
  if (best) return best;
  least = 5;
  for (const edge of edges) {
    if (!isDrawn(edge)) continue;
    const away = fromLine(x, y, at(edge.a), at(edge.b));
    if (away < least) [best, least] = [{ edge }, away];
  }
  return best;
}

function fromLine(x, y, [ax, ay], [bx, by]) {
  const [dx, dy] = [bx - ax, by - ay];
  const share = Math.min(Math.max(((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy || 1), 0), 1);
  return Math.hypot(x - ax - share * dx, y - ay - share * dy);
}

function hover(x, y) {
  const now = pointers.size ? null : under(x, y);
  canvas.classList.toggle("over", Boolean(now));
  if ((now && (now.node || now.edge)) !== (hovered && (hovered.node || hovered.edge))) { hovered = now; redraw(); }
  tip.hidden = !now;
  if (!now) return;
  tip.replaceChildren(...(now.node ? aboutNode(now.node, MOST_IN_TIP) : aboutEdge(now.edge)));
  tip.style.left = `${Math.max(Math.min(x + 14, stage.clientWidth - tip.offsetWidth - 4), 4)}px`;
  tip.style.top = `${Math.max(Math.min(y + 14, stage.clientHeight - tip.offsetHeight - 4), 4)}px`;
}

function aboutEdge(edge) {
  const rows = [["partial correlation", number(edge.corr)], ["rank", `${edge.rank + 1} of ${edges.length}`]];
  if (edge.stability !== undefined) rows.push(["selected in subsamples", `${Math.round(100 * edge.stability)}%`]);
  return [element("h2", `${edge.a.name} \u2013 ${edge.b.name}`), table(rows.map(([word, value]) => row(element("td", word), value)))];
}

function aboutNode(node, most, name = (near) => element("td", near.name)) {
  const ties = tiesOf(node), group = graph.grouped ? `${node.look.name}, ` : "";
  const parts = [element("h2", node.name), element("p", `${group}${plural(ties.length, "neighbor")}`)];
  if (!ties.length) return parts;
  const head = element("tr");
  head.append(element("th", "neighbor"), element("th", "partial correlation", "number"));
  parts.push(table([head, ...ties.slice(0, most).map((edge) => row(name(other(edge, node)), number(edge.corr)))]));
  if (ties.length > most) parts.push(element("p", `and ${ties.length - most} more; click to list all`));
  return parts;
}

function table(rows) {
  const made = element("table");
  made.append(...rows);
  return made;
}

function row(first, value) {
  const made = element("tr");
  made.append(first, element("td", value, "number"));
  return made;
}

// ------------------------------------------------------------------------------- the panel

function select(node, bring = false) {
  selected = node;
  tip.hidden = true;
  hovered = null;
  // Who asks for a node of a hidden group wants to see it.
  if (node && hidden.delete(node.look)) listGroups();
  if (node && bring) center(node);
  listChosen();
  redraw();
}

function listChosen() {
  chosen.hidden = !selected;
  if (!selected) return;
  const cell = (near) => {
    const made = element("td");
    made.append(button(near.name, () => select(near, true)));
    return made;
  };
  chosen.replaceChildren(...aboutNode(selected, Infinity, cell), button("clear", () => select(null)));
}

function button(text, act) {
  const made = element("button", text);
  made.type = "button";
  made.addEventListener("click", act);
  return made;
}

function matches() {
  const asked = search.value.trim().toLowerCase();
  if (!asked) return [];
  const place = (node) => (node.key === asked ? 0 : node.key.startsWith(asked) ? 1 : 2);
  return nodes.filter((node) => node.key.includes(asked)).sort((one, two) => place(one) - place(two));
}

function listFound() {
  const all = matches();
  const shownOnes = all.slice(0, MOST_FOUND).map((node) => button(node.name, () => select(node, true)));
  if (all.length > MOST_FOUND) shownOnes.push(element("p", `and ${all.length - MOST_FOUND} more`));
  if (!all.length && search.value.trim()) shownOnes.push(element("p", "no node has this in its name"));
  found.replaceChildren(...shownOnes);
}

function showEdges(wanted) {
  shown = Math.min(Math.max(Math.round(wanted) || 0, 0), edges.length);
  slider.value = shown;
  count.value = shown;
  status.textContent = `of ${plural(edges.length, "edge")}`;
  listChosen();
  redraw();
}

function listGroups() {
  groups.hidden = !graph.grouped;
  const sign = { o: "\u25cf", s: "\u25a0", "^": "\u25b2", D: "\u25c6" };
  const entries = graph.looks.map((look) => {
    const made = button("", () => { if (!hidden.delete(look)) hidden.add(look); listGroups(); listChosen(); redraw(); });
    const mark = element("span", sign[look.marker]);
    mark.style.color = look.color;
    made.append(mark, ` ${look.name} (${nodes.filter((node) => node.look === look).length})`);
    made.setAttribute("aria-pressed", String(!hidden.has(look)));
    return made;
  });
  groups.replaceChildren(element("span", graph.grouped || "", "head"), ...entries);
}

// --------------------------------------------------------------------------------- pointers

let pressed = null;
const place = (event) => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };

canvas.addEventListener("pointerdown", (event) => {
  canvas.setPointerCapture(event.pointerId);
  pointers.set(event.pointerId, place(event));
  pressed = pointers.size === 1 ? place(event) : null;
});
canvas.addEventListener("pointermove", (event) => {
  const [x, y] = place(event), before = pointers.get(event.pointerId);
  if (!before) { hover(x, y); return; }
  const rest = [...pointers].filter(([id]) => id !== event.pointerId).map(([, where]) => where);
  if (rest.length === 1) {
    const [[u, v]] = rest;
    zoom(Math.hypot(x - u, y - v) / Math.max(Math.hypot(before[0] - u, before[1] - v), 1), u, v);
  } else if (!rest.length) {
    move(x - before[0], y - before[1]);
  }
  pointers.set(event.pointerId, [x, y]);
});
canvas.addEventListener("pointerup", (event) => {
  const [x, y] = place(event), still = pressed && Math.hypot(x - pressed[0], y - pressed[1]) < 4;
  pointers.delete(event.pointerId);
  if (still) select((under(x, y) || {}).node || null);
});
canvas.addEventListener("pointercancel", (event) => pointers.delete(event.pointerId));
canvas.addEventListener("pointerleave", () => { hovered = null; tip.hidden = true; redraw(); });
canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  zoom(Math.exp(-0.0015 * event.deltaY), ...place(event));
}, { passive: false });
canvas.addEventListener("keydown", (event) => {
  const acts = {
    "+": () => zoom(1.4), "=": () => zoom(1.4), "-": () => zoom(1 / 1.4), 0: fit, Escape: () => select(null),
    ArrowLeft: () => move(40, 0), ArrowRight: () => move(-40, 0), ArrowUp: () => move(0, 40), ArrowDown: () => move(0, -40),
  };
  if (acts[event.key]) { event.preventDefault(); acts[event.key](); }
});
for (const made of document.querySelectorAll("#zoom button")) {
  made.addEventListener("click", () => (made.dataset.zoom === "fit" ? fit() : zoom(Number(made.dataset.zoom))));
}
search.addEventListener("input", listFound);
search.addEventListener("keydown", (event) => { if (event.key === "Enter" && matches().length) select(matches()[0], true); });
slider.addEventListener("input", () => showEdges(Number(slider.value)));
count.addEventListener("change", () => showEdges(Number(count.value)));
window.addEventListener("resize", redraw);

slider.max = count.max = edges.length;
listGroups();
showEdges(edges.length);
fit();
