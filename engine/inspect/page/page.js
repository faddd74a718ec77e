"use strict";
// Draws a report of kernels, or the editor of views, from the JSON beside it. No request is made.
const data = JSON.parse(document.getElementById("data").textContent);
const page = document.getElementById("page");
const LINE = 64;      // bytes of a cache line
const MOST_ROWS = 64, MOST_COLUMNS = 64;

// element("td", {class: "x", onclick: f}, "text", child, ...)
function element(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (value === true) node.setAttribute(key, "");
    else if (value !== false && value != null) node.setAttribute(key, value);
  }
  for (const child of children.flat(Infinity)) if (child != null) node.append(child);
  if (tag === "pre" || node.className === "scroll") node.tabIndex = 0;  // what scrolls can be reached by keyboard
  return node;
}
function svg(tag, attributes, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}
const show = (...parts) => page.replaceChildren(...parts.filter(Boolean));
const si = (x, unit) => {
  if (!x) return "0 " + unit;
  const step = Math.min(4, Math.max(-3, Math.floor(Math.log10(Math.abs(x)) / 3)));
  return (x / 1000 ** step).toPrecision(3) + " " + ["n", "µ", "m", "", "k", "M", "G", "T"][step + 3] + unit;
};

// ---- Views. A stack is a list of {shape, strides, offset, mask}, innermost first.

// The position of an index, or -1 where it is invalid.
function position(stack, index) {
  let at = index;
  for (let k = stack.length - 1; ; --k) {
    const view = stack[k];
    let sum = view.offset;
    for (let d = 0; d < at.length; ++d) {
      if (view.mask && (at[d] < view.mask[d][0] || at[d] >= view.mask[d][1])) return -1;
      sum += at[d] * view.strides[d];
    }
    if (k === 0) return sum;
    at = unravel(sum, stack[k - 1].shape);
  }
}
function unravel(number, shape) {
  const index = new Array(shape.length);
  for (let d = shape.length - 1; d >= 0; --d) {
    index[d] = number % shape[d];
    number = Math.floor(number / shape[d]);
  }
  return index;
}
const count = shape => shape.reduce((a, b) => a * b, 1);
const tuple = list => "(" + list.join(",") + ")";
function viewText(view) {
  const mask = view.mask ? "[" + view.mask.map(r => r[0] + ":" + r[1]).join(",") + ")" : "";
  return tuple(view.shape) + ":" + tuple(view.strides) + (view.offset ? (view.offset > 0 ? "+" : "") + view.offset : "") + mask;
}

// `edit(what, axis, text)`: the cells can be changed.
function viewTable(view, title, edit) {
  const cell = (what, axis, text) => edit ? element("input", {value: text, size: Math.max(4, text.length), "aria-label": what + (axis == null ? "" : " of axis " + axis), onchange: event => edit(what, axis, event.target.value)}) : text;
  const row = (name, values) => element("tr", {}, element("th", {scope: "row"}, name), values.map((v, d) => element("td", {class: "num"}, name === "axis" ? String(v) : cell(name, d, String(v)))));
  return element("div", {class: "card"}, element("strong", {}, title), element("table", {class: "list"},
    row("axis", view.shape.map((_, d) => d)), row("extent", view.shape), row("stride", view.strides),
    view.mask || edit ? row("valid", (view.mask || view.shape.map(n => [0, n])).map(r => edit ? r.join(":") : r[0] + " .. " + (r[1] - 1))) : null),
    element("div", {class: "note"}, "position of the first index: ", cell("offset", null, String(view.offset))));
}
function stackTables(stack, title, edit) {
  const views = stack.slice().reverse();
  return element("div", {}, element("h3", {}, title + (views.length === 1 ? ": one view" : ": " + views.length + " views")),
    element("div", {class: "columns"}, views.map((v, k) => viewTable(v, views.length === 1 ? viewText(v) : (k === 0 ? "the index goes in here: " : "its position is an index of: ") + viewText(v), edit && ((...change) => edit(stack.length - 1 - k, ...change))))));
}

// Every position of a stack, in the order of its indices.
const positions = stack => {
  const shape = stack[stack.length - 1].shape;
  return Array.from({length: count(shape)}, (_, k) => position(stack, unravel(k, shape)));
};

// The one view with these positions, or {why, indices}: what two of the indices show that no view does.
function oneView(shape, at) {
  const lo = shape.slice(), hi = shape.map(() => 0), steps = contiguous(shape).strides;
  at.forEach((position, k) => { if (position >= 0) unravel(k, shape).forEach((i, d) => { lo[d] = Math.min(lo[d], i); hi[d] = Math.max(hi[d], i + 1); }); });
  if (at.every(position => position < 0)) return {view: {shape, strides: shape.map(() => 0), offset: 0, mask: at.length ? shape.map(() => [0, 0]) : null}};
  const number = index => index.reduce((sum, i, d) => sum + i * steps[d], 0), first = number(lo);
  const hole = at.findIndex((position, k) => position < 0 && unravel(k, shape).every((i, d) => i >= lo[d] && i < hi[d]));
  if (hole >= 0) {
    const index = unravel(hole, shape), beside = at.findIndex(position => position >= 0);
    return {why: "Index " + tuple(index) + " is invalid and index " + tuple(unravel(beside, shape)) + " is valid, but both lie within the box of the valid indices. A mask is a box.", indices: [hole, beside]};
  }
  const strides = shape.map((_, d) => hi[d] - lo[d] > 1 ? at[first + steps[d]] - at[first] : 0);
  for (let k = 0; k < at.length; ++k) {
    if (at[k] < 0) continue;
    const index = unravel(k, shape), d = index.findIndex((i, d) => i > lo[d] && at[k] - at[k - steps[d]] !== strides[d]);
    if (d >= 0) return {why: "A step along axis " + d + " goes " + strides[d] + " at index " + tuple(lo) + ", but " + (at[k] - at[k - steps[d]]) + " at index " + tuple(unravel(k - steps[d], shape)) +
      ". An axis of a view has one stride.", indices: [k - steps[d], k]};
  }
  const whole = lo.every((n, d) => n === 0 && hi[d] === shape[d]);
  return {view: {shape, strides, offset: at[first] - lo.reduce((sum, i, d) => sum + i * strides[d], 0), mask: whole ? null : lo.map((n, d) => [n, hi[d]])}};
}

// The pieces of each axis under which the positions are one view, or null: the fewest pieces of an axis alone, then all together.
function refinement(shape, at) {
  const steps = contiguous(shape).strides, first = at.findIndex(position => position >= 0);
  const pieces = shape.map((n, d) => {
    const line = Array.from({length: n}, (_, i) => at[first + (i - unravel(first, shape)[d]) * steps[d]]);
    const splits = [[n]];
    for (let a = 2; a < n; ++a) if (n % a === 0) {
      splits.push([a, n / a]);
      for (let b = 2; b < n / a; ++b) if (n / a % b === 0) splits.push([a, b, n / a / b]);
    }
    return splits.sort((x, y) => x.length - y.length).find(split => oneView(split, line).view);
  });
  const found = pieces.every(Boolean) && oneView(pieces.flat(), at).view;
  return found ? {pieces, view: found} : null;
}

// What the positions are as one view, or the two indices that prove that they are none; then the split that makes them one.
function mergedPart(stack) {
  const shape = stack[stack.length - 1].shape, at = positions(stack), one = oneView(shape, at);
  if (one.view) return [element("p", {}, "The positions are one view: ", element("span", {class: "code", id: "merged"}, viewText(one.view))), null, []];
  const split = refinement(shape, at);
  return [element("p", {}, "The positions are no single view. " + one.why + " The two are marked below."),
    split ? element("div", {}, element("h2", {}, "The split that makes one view"), element("p", {}, split.pieces.map((p, d) => p.length > 1 ? "axis " + d + " as " + tuple(p) : null).filter(Boolean).join(", ")), viewTable(split.view, viewText(split.view)), element("h3", {}, "Positions after the split"), heatMap([split.view], 4)) : null, one.indices];
}

// The positions as a picture: a cell for each index, the last axis across. `bytes`: of an element.
function heatMap(stack, bytes, marked = []) {
  const shape = stack[stack.length - 1].shape;
  const across = shape.length ? shape[shape.length - 1] : 1, down = across ? count(shape) / across : 0;
  const rows = Math.min(down, MOST_ROWS), columns = Math.min(across, MOST_COLUMNS);
  const cells = [];
  let highest = 1;
  for (let r = 0; r < rows; ++r) for (let c = 0; c < columns; ++c) {
    const at = position(stack, unravel(r * across + c, shape));
    highest = Math.max(highest, at);
    cells.push({at, r, c, index: unravel(r * across + c, shape)});
  }
  const said = element("output", {class: "note"}, "Choose a cell: its element, its cache line, and who else reads it.");
  const table = element("table", {class: "map", role: "grid"});
  const choose = chosen => {
    const line = Math.floor(chosen.at * bytes / LINE);
    let same = 0, near = 0;
    for (const cell of cells) {
      const equal = cell.at === chosen.at && cell.at >= 0;
      const close = cell.at >= 0 && chosen.at >= 0 && Math.floor(cell.at * bytes / LINE) === line;
      same += equal; near += close;
      cell.node.classList.toggle("same", equal);
      cell.node.classList.toggle("inline", close);
    }
    said.textContent = "Index " + tuple(chosen.index) + (chosen.at < 0 ? " is invalid: it reads as zero." :
      ": element " + chosen.at + ", byte " + chosen.at * bytes + ", cache line " + line + ". " + same + (same === 1 ? " cell reads" : " cells read") +
      " this element, " + near + " this line.");
  };
  for (let r = 0; r < rows; ++r) {
    const row = element("tr", {});
    for (let c = 0; c < columns; ++c) {
      const cell = cells[r * columns + c];
      cell.node = element("td", {class: "cell" + (cell.at < 0 ? " none" : "") + (marked.includes(r * across + c) ? " proof" : ""), tabindex: r + c === 0 ? 0 : -1, "data-position": cell.at,
        title: "index " + tuple(cell.index), onclick: () => choose(cell), onfocus: () => choose(cell)}, columns > 32 ? "" : cell.at < 0 ? "" : String(cell.at));
      if (cell.at >= 0) cell.node.style.background = "hsl(" + (210 + 150 * cell.at / highest) + " 70% " + (90 - 26 * cell.at / highest) + "%)";
      row.append(cell.node);
    }
    table.append(row);
  }
  table.addEventListener("keydown", event => {
    const step = {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns}[event.key];
    const from = cells.findIndex(cell => cell.node === document.activeElement);
    if (!step || from < 0 || !cells[from + step]) return;
    event.preventDefault();
    cells[from].node.tabIndex = -1;
    cells[from + step].node.tabIndex = 0;
    cells[from + step].node.focus();
  });
  // The loops in their order: what they have touched so far.
  const touched = element("output", {class: "note"});
  const run = upTo => {
    const lines = new Set(), elements = new Set();
    let reads = 0;
    cells.forEach((cell, k) => {
      cell.node.classList.toggle("later", k >= upTo);
      if (k < upTo && cell.at >= 0) { ++reads; elements.add(cell.at); lines.add(Math.floor(cell.at * bytes / LINE)); }
    });
    const used = elements.size * bytes, fetched = lines.size * LINE;
    touched.textContent = upTo + " of " + cells.length + " points shown: " + lines.size + " cache lines, " + used + " of " + fetched + " bytes used" +
      (fetched ? " (" + Math.round(100 * used / fetched) + " %)" : "") + ", each element read " + (elements.size ? (reads / elements.size).toFixed(1) : 0) + " times";
  };
  const slider = element("input", {type: "range", min: 0, max: cells.length, value: cells.length, "aria-label": "points of the loops that have run",
    oninput: event => run(+event.target.value)});
  run(cells.length);
  return element("div", {}, element("div", {class: "scroll"}, table),
    rows < down || columns < across ? element("div", {class: "note"}, "shown: " + rows + " of " + down + " rows, " + columns + " of " + across + " columns") : null,
    element("div", {}, said), element("div", {}, slider, " ", touched));
}

// ---- The report.

const BYTES = {bool: 1, int8: 1, uint8: 1, int16: 2, uint16: 2, float16: 2, bfloat16: 2, int32: 4, uint32: 4, float32: 4, int64: 8, uint64: 8, float64: 8};

function allKernels() {
  const list = [];
  data.schedules.forEach((schedule, s) => schedule.kernels.forEach((kernel, k) => list.push({...kernel, schedule: s, id: "s" + s + "k" + k})));
  // Equal details stand once; those that nobody has were left out.
  for (const kernel of list) {
    if (kernel.operands) continue;
    const holder = list[kernel.same_as];
    Object.assign(kernel, {operands: holder?.operands ?? [], values: holder?.values ?? [], cut: !holder});
  }
  // Kernels of one name and source give it once.
  const sources = {};
  for (const kernel of list) if (kernel.source != null) sources[kernel.name] = kernel;
  for (const kernel of list) if (kernel.source == null && sources[kernel.name]) Object.assign(kernel, {source: sources[kernel.name].source, program: sources[kernel.name].program});
  return list;
}

// What a launch reaches of the machine's limits: 1 is all; null if that is not known.
const reached = kernel => kernel.fastest > 0 && kernel.limit > 0 ? kernel.limit / kernel.fastest : null;
const percent = share => (100 * share).toFixed(0) + " %";

function kernelList(kernels, open) {
  const total = kernels.reduce((sum, k) => sum + (k.seconds || 0), 0);
  const measured = total > 0;
  const order = kernels.slice().sort((a, b) => (b.seconds || b.estimated_nanoseconds * 1e-9) - (a.seconds || a.estimated_nanoseconds * 1e-9));
  const body = element("tbody", {});
  const rows = order.map((kernel, k) => {
    const share = measured ? (kernel.seconds || 0) / total : kernel.estimated_nanoseconds / Math.max(1, kernels.reduce((s, x) => s + x.estimated_nanoseconds, 0));
    const [line, ...others] = kernel.sites.split(",");
    return element("tr", {"aria-selected": "false"}, element("td", {class: "code", title: kernel.sites}, line + (others.length ? " +" + others.length : "")), element("td", {class: "wide"}, element("button", {class: "link code", onclick: () => select(k), onkeydown: event => {
      const to = event.key === "ArrowDown" ? k + 1 : event.key === "ArrowUp" ? k - 1 : -1;
      if (rows[to]) { event.preventDefault(); rows[to].querySelector("button").focus(); }
    }}, kernel.name || "copy")),
      element("td", {class: "num"}, measured ? si(kernel.seconds || 0, "s") : si(kernel.estimated_nanoseconds * 1e-9, "s")),
      element("td", {}, element("span", {class: "bar", style: "width:" + (8 * share).toFixed(2) + "rem"}), " " + percent(share)),
      element("td", {class: "num"}, measured ? String(kernel.launches || 0) : ""), element("td", {class: "num"}, si(kernel.bytes, "B")), element("td", {class: "num"}, si(kernel.flops, "op")),
      element("td", {class: "num"}, reached(kernel) == null ? "" : percent(reached(kernel))), element("td", {class: "wide"}, kernel.path));
  });
  const select = k => {
    rows.forEach((row, r) => row.setAttribute("aria-selected", String(r === k)));
    open(order[k]);
  };
  body.append(...rows);
  return [element("div", {class: "scroll"}, element("table", {class: "list kernels"}, element("thead", {}, element("tr", {}, ["line", "kernel", measured ? "time" : "estimated", "share", measured ? "launches" : "", "bytes of one", "operations of one", "of the limit", "path"].map(t => element("th", {scope: "col"}, t)))), body)),
    [kernels.some(k => reached(k) > 1.005) ? element("p", {class: "note", id: "beyond"}, "More than 100 % of the limit: copies bound what reads and writes alike, and float32 multiply-adds bound operations. Reads alone, operations on smaller elements, and kernels that skip a part of what is counted may be faster.") : null,
      kernels.filter(k => k.repeated > 0).map(k => element("p", {class: "note repeated"}, k.name + (k.sites ? " at " + k.sites : "") + " computed in " + k.repeated + " of " + k.launches + " launches what an earlier one had computed from the same operands."))],
    () => select(0)];
}

function roofline(kernels) {
  const timed = kernels.filter(k => k.fastest > 0 && k.flops > 0 && k.bytes > 0);
  if (!timed.length) return null;
  const W = 640, H = 320, L = 60, B = 40;
  const xs = timed.map(k => Math.log10(k.flops / k.bytes)), ridge = Math.log10(data.machine.flops_per_second / data.machine.bytes_per_second);
  const x0 = Math.floor(Math.min(-1, ...xs)), x1 = Math.ceil(Math.max(ridge + 0.5, ...xs));
  const peak = Math.log10(data.machine.flops_per_second), ys = timed.map(k => Math.log10(k.flops / k.fastest)), y1 = Math.ceil(Math.max(peak, ...ys)), y0 = Math.floor(Math.min(peak - 3, ...ys));
  const X = x => L + (x - x0) / (x1 - x0) * (W - L - 10), Y = y => H - B - (y - y0) / (y1 - y0) * (H - B - 10);
  // A roof for each size of data whose copies were measured: in memory, and in caches.
  const roofs = data.machine.copies.map(size => size[1]).reverse();
  const picture = svg("svg", {viewBox: "0 0 " + W + " " + H, width: W, role: "img", "aria-label": "roofline: operations per second over operations per byte"});
  for (let x = x0; x <= x1; ++x) picture.append(svg("text", {x: X(x), y: H - 18, "text-anchor": "middle"}, String(10 ** x)));
  for (let y = y0; y <= y1; ++y) picture.append(svg("text", {x: L - 6, y: Y(y) + 4, "text-anchor": "end"}, si(10 ** y, "")));
  roofs.forEach((speed, k) => {
    const low = Math.max(x0, y0 - Math.log10(speed)), high = Math.max(low, peak - Math.log10(speed));
    picture.append(svg("path", {d: "M" + X(low) + " " + Y(Math.min(peak, low + Math.log10(speed))) + " L" + X(high) + " " + Y(peak) + " L" + X(x1) + " " + Y(peak), "stroke-width": k ? 1 : 2, "stroke-dasharray": k ? "4 3" : ""}));
  });
  picture.append(svg("text", {x: W / 2, y: H - 2, "text-anchor": "middle"}, "operations per byte"), svg("text", {x: L, y: 10}, "operations per second"));
  for (const k of timed) {
    const dot = svg("circle", {cx: X(Math.log10(k.flops / k.bytes)), cy: Y(Math.log10(k.flops / k.fastest)), r: 5});
    dot.append(svg("title", {}, k.name + ": " + si(k.flops / k.fastest, "op/s"))) ;
    picture.append(dot);
  }
  return element("section", {}, element("h2", {}, "Roofline"), element("div", {class: "scroll"}, picture),
    element("div", {class: "note"}, "The thick line is this machine: " + si(data.machine.bytes_per_second, "B/s") + " in memory" + (roofs.length > 1 ? " (dashed: in caches, up to " + si(Math.max(...roofs), "B/s") + ")" : "") + " and " + si(data.machine.flops_per_second, "op/s") + ", measured when the report was written."));
}

function operandPart(operand, open) {
  const bytes = BYTES[operand.dtype] || 4;
  const views = list => list.map(parseView);
  const stack = views(operand.normalised.length ? operand.normalised : operand.merged);
  const title = operand.kind + " " + (operand.name || operand.value) + (operand.memory ? " (" + operand.memory + ", " + operand.dtype + ")" : "");
  const details = element("details", {class: "card"}, element("summary", {}, element("span", {class: "code"}, title + ": " + operand.index + (operand.valid !== "1" ? " where " + operand.valid : ""))));
  details.addEventListener("toggle", () => {
    if (!details.open || details.dataset.drawn) return;
    details.dataset.drawn = "1";
    details.append(operand.steps.length ? element("p", {class: "note"}, "Movements, the one nearest to the operand first: " + operand.steps.join("; ")) : element("p", {class: "note"}, "No movements."));
    const parts = [];
    if (operand.written.length) parts.push(stackTables(views(operand.written), "As written"));
    if (operand.merged.length) parts.push(stackTables(views(operand.merged), "Merged"));
    if (operand.normalised.length) parts.push(stackTables(views(operand.normalised), "Over the final loops"));
    details.append(element("div", {class: "columns"}, parts));
    if (!stack.length) return;
    const small = count(stack[stack.length - 1].shape) <= 1e5;
    const [proof, , marked] = stack.length > 1 && small ? mergedPart(stack) : [null, null, []];  // why several views are left
    if (proof) details.append(proof);
    details.append(element("h3", {}, "Positions"), heatMap(stack, bytes, marked));
  });
  details.open = open;
  return details;
}

// A text whose names (%4, v12, o0, in1) are marked wherever the same name stands in the kernel's texts when one is
// chosen, and whose sites lead to their lines.
function linked(text, sourceLine, tag = "pre") {
  const block = element(tag, {});
  const name = /([\w.+-]+\.(?:cpp|cc|hpp|h|cxx):\d+)|%\d+|\b[a-z]{1,4}\d+\b/g;
  let from = 0;
  for (const found of text.matchAll(name)) {
    block.append(text.slice(from, found.index));
    from = found.index + found[0].length;
    if (found[1] && sourceLine) block.append(element("button", {class: "link code", onclick: () => sourceLine(found[0])}, found[0]));
    else if (found[1]) block.append(found[0]);
    else block.append(element("span", {class: "name", "data-name": found[0], onclick: () => mark(block, found[0])}, found[0]));
  }
  block.append(text.slice(from));
  return block;
}
function mark(block, name) {
  const part = block.closest("section");
  for (const other of part.querySelectorAll(".name")) other.classList.toggle("same", other.dataset.name === name);
  for (const text of part.querySelectorAll("pre")) {
    const first = text.querySelector(".name.same");
    if (first && text !== block) text.scrollTop = first.offsetTop - text.offsetTop - 40;
  }
}

// The same for who has no pointer: the names of a kernel's texts as a list.
function nameList(kernel) {
  const texts = [kernel.values.join("\n"), kernel.program, kernel.source].filter(Boolean);
  const names = [...new Set(texts.flatMap(text => [...linked(text).querySelectorAll(".name")].map(name => name.dataset.name)))];
  return names.length ? element("label", {}, "mark a name in these texts: ", element("select", {onchange: event => mark(event.target, event.target.value)},
    element("option", {value: ""}, "none"), names.map(name => element("option", {value: name}, name)))) : null;
}

function kernelPart(kernel, sourceLine) {
  const lines = [];
  const add = (name, value, cls) => { if (value) lines.push(element("tr", {}, element("th", {scope: "row"}, name), element("td", {class: cls || ""}, value))); };
  add("loops", kernel.before === kernel.after ? kernel.before : kernel.before + " became " + kernel.after, "code");
  add("path", kernel.path);
  add("how it runs", kernel.method);
  const outputs = kernel.outputs.map(o => element("tr", {}, element("td", {class: "code"}, o.text), element("td", {}, "stored because " + o.reason + (o.where ? "; " + o.where : "")),
    element("td", {}, o.site ? element("button", {class: "link code", onclick: () => sourceLine(o.site)}, o.site) : "")));
  return element("div", {}, element("h2", {id: "kernel", tabindex: -1}, kernel.name || "copy"), element("table", {class: "list"}, lines),
    element("h3", {}, "Why it ends"), element("div", {class: "scroll"}, element("table", {class: "list"}, outputs)),
    kernel.values.length ? element("details", {}, element("summary", {}, kernel.values.length + (kernel.values.length === 1 ? " value" : " values, sources first")), linked(kernel.values.join("\n"), sourceLine)) : null,
    nameList(kernel),
    element("h3", {}, "Accesses"), kernel.cut ? element("p", {class: "note"}, "The accesses are left out: the file would exceed its limit.") : kernel.operands.map((operand, k) => operandPart(operand, k === 0)),
    kernel.program ? element("details", {}, element("summary", {}, "Loop program"), linked(kernel.program, sourceLine)) : null,
    kernel.source ? element("details", {open: true}, element("summary", {}, "Generated source"), linked(kernel.source)) :
      kernel.source === null ? element("p", {class: "note"}, "The source is left out: the file would exceed its limit. ORIEL_DUMP writes all of them.") : null);
}

function sourcesPart(kernels, open) {
  const names = Object.keys(data.sources);
  if (!names.length) return [null, () => {}];
  const hits = {};
  for (const kernel of kernels) for (const output of kernel.outputs) (hits[output.site] = hits[output.site] || []).push(kernel);
  const spans = {};
  const files = names.map(name => element("details", {open: names.length === 1}, element("summary", {class: "code"}, name), element("pre", {class: "src"}, data.sources[name].map((text, n) => {
    const site = name + ":" + (n + 1), at = hits[site];
    const line = element("span", {"data-n": n + 1, class: at ? "hit" : ""}, text || " ");
    if (at) line.append("  ", at.map(k => element("button", {class: "link", onclick: () => open(k)}, k.name)));
    spans[site] = line;
    return line;
  }))));
  return [element("section", {}, element("h2", {}, "The program"), element("p", {class: "note"}, "Marked lines built a value that a kernel stores."), files),
    site => { const line = spans[site]; if (line) { line.closest("details").open = true; line.scrollIntoView({block: "center"}); } }];
}

function memoryPart(schedule) {
  const memory = schedule.memory;
  const widest = Math.max(1, ...memory.block_bytes);
  return element("div", {}, element("p", {}, si(memory.output_bytes, "B") + " of results; " + si(memory.peak_bytes, "B") + " between kernels in " + memory.block_bytes.length + " blocks (" +
    si(memory.bytes_without_reuse, "B") + " without reuse)."), memory.block_bytes.length ? element("table", {class: "list"}, memory.block_bytes.map((b, k) =>
    element("tr", {}, element("th", {scope: "row"}, "block " + k), element("td", {class: "num"}, si(b, "B")), element("td", {}, element("span", {class: "bar", style: "width:" + (12 * b / widest).toFixed(2) + "rem"}))))) : null);
}

// The traces of captured functions: why each was made, and the guards under which it holds, with their lines.
function tracesPart(toLine) {
  if (!data.traces.length) return null;
  return element("section", {}, element("h2", {}, "Captured functions"), data.traces.map((trace, k) => element("details", {open: k === 0}, element("summary", {}, "trace " + k + " of " + trace.function),
    element("table", {class: "list"}, trace.lines.map(([what, text]) => element("tr", {}, element("th", {scope: "row"}, what), element("td", {class: "code"}, linked(text, toLine, "span"))))))));
}

// Launches in time, and the memory that tensors held at each.
function timelinePart(kernels, open) {
  const {names, launches, left_out} = data.timeline;
  if (!launches.length) return null;
  const W = 1000, L = 70, H = 110, lane = 14, threads = [...new Set(launches.map(l => l[3]))];
  const end = Math.max(...launches.map(l => l[1] + l[2])), most = Math.max(1, ...launches.map(l => l[4]));
  const X = t => L + t / end * (W - L - 10), Y = b => H - b / most * (H - 20);
  const height = H + 24 + lane * threads.length;
  const picture = svg("svg", {viewBox: "0 0 " + W + " " + height, width: W, role: "img", "aria-label": "memory and kernels in time"});
  picture.append(svg("text", {x: 4, y: 24}, si(most, "B")), svg("text", {x: 4, y: H}, "0 B"), svg("text", {x: L, y: height - 4}, "0 s"), svg("text", {x: W - 10, y: height - 4, "text-anchor": "end"}, si(end, "s")));
  const ordered = launches.slice().sort((a, b) => a[1] - b[1]);
  picture.append(svg("path", {d: "M" + L + " " + H + ordered.map(l => " H" + X(l[1]).toFixed(1) + " V" + Y(l[4]).toFixed(1)).join("") + " H" + X(end), "stroke-width": 2}));
  for (const [name, start, seconds, thread, bytes, number] of launches) {
    const bar = svg("rect", {x: X(start), y: H + 6 + lane * threads.indexOf(thread), width: Math.max(1, X(start + seconds) - X(start)), height: lane - 2, fill: "hsl(" + (name * 67 % 360) + " 60% 55%)"});
    bar.append(svg("title", {}, names[name] + ": " + si(seconds, "s") + " at " + si(start, "s") + ", " + si(bytes, "B") + " held"));
    const kernel = kernels[number];
    if (kernel) bar.addEventListener("click", () => open(kernel));
    picture.append(bar);
  }
  return element("section", {}, element("h2", {}, "The run"), element("div", {class: "scroll"}, picture), element("div", {class: "note"}, launches.length + (launches.length === 1 ? " launch" : " launches") +
    (left_out ? ", the first of " + (launches.length + left_out) : "") + ". The line is the memory that tensors hold: at most " + si(most, "B") + ". Below it a row for each thread."));
}

function drawReport() {
  document.title = "Oriel: " + data.title;
  const kernels = allKernels();
  const detail = element("section", {"aria-live": "polite"});
  let toLine = () => {};
  const open = kernel => { detail.replaceChildren(kernelPart(kernel, site => toLine(site))); };
  const jump = kernel => { open(kernel); detail.scrollIntoView(); detail.querySelector("#kernel").focus(); };
  const [list, note, first] = kernelList(kernels, open);
  const [sources, line] = sourcesPart(kernels, jump);
  toLine = line;
  const rules = {};
  for (const s of data.schedules) for (const r of s.rules) (rules[r.name] = rules[r.name] || {times: 0, reasons: []}, rules[r.name].times += r.times, rules[r.name].reasons.push(...r.reasons));
  show(element("h1", {}, data.title), element("p", {class: "note"}, data.schedules.length + (data.schedules.length === 1 ? " schedule, " : " schedules, ") + kernels.length + (kernels.length === 1 ? " kernel on " : " kernels on ") + data.device +
    (data.left_out ? "; " + data.left_out + " further schedules are left out" : "") + (kernels.some(k => k.seconds) ? "" : "; nothing ran, so times are estimates")),
    element("section", {}, element("h2", {}, "Kernels"), kernels.length ? [list, note] : element("p", {}, "Nothing is to be computed.")), detail, timelinePart(kernels, jump), roofline(kernels), tracesPart(site => toLine(site)), sources,
    element("section", {}, element("h2", {}, "Memory"), data.schedules.map((s, k) => data.schedules.length > 1 ? element("details", {}, element("summary", {}, "schedule " + k), memoryPart(s)) : memoryPart(s))),
    element("section", {}, element("h2", {}, "Rewrite rules that applied"), Object.keys(rules).length ? element("table", {class: "list"}, Object.entries(rules).map(([name, r]) =>
      element("tr", {}, element("td", {class: "code"}, name), element("td", {class: "num"}, r.times + "x"), element("td", {}, r.reasons.join("; "))))) : element("p", {class: "note"}, "none")));
  if (kernels.length) first();
}

// ---- The editor of views. The fragment of the address holds its program: `2,6 | pad 1,1 0,0 | reshape 4,2,3 | flip 1`.

const numbers = text => text.replace(/[()\s]/g, "").split(",").filter(Boolean).map(part => {
  if (!/^-?\d+$/.test(part)) throw new Error("'" + part + "' is not an integer");
  return Number(part);
});
function contiguous(shape) {
  const strides = new Array(shape.length);
  for (let d = shape.length - 1, step = 1; d >= 0; --d) { strides[d] = step; step *= Math.max(1, shape[d]); }
  return {shape, strides, offset: 0, mask: null};
}
const copy = view => ({shape: view.shape.slice(), strides: view.strides.slice(), offset: view.offset, mask: view.mask && view.mask.map(r => r.slice())});
function need(condition, message) { if (!condition) throw new Error(message); }

// One movement on the outermost view; a reshape lies on top, for merging is the command's.
function move(stack, step) {
  const [, kind, rest] = /^(\w+)\s*(.*)$/.exec(step.trim()) || [];
  const below = stack.slice(0, -1), view = copy(stack[stack.length - 1]), rank = view.shape.length;
  const pairs = () => kind === "shrink" ? rest.split(/[\s,]+/).filter(Boolean).map(p => p.split(":").map(Number)) : rest.split(/\s+/).filter(Boolean).map(numbers);
  if (kind === "permute") {
    const order = numbers(rest);
    need(order.slice().sort((a, b) => a - b).join() === view.shape.map((_, d) => d).join(), "permute takes each of the " + rank + " axes once");
    return [...below, {shape: order.map(d => view.shape[d]), strides: order.map(d => view.strides[d]), offset: view.offset, mask: view.mask && order.map(d => view.mask[d])}];
  }
  if (kind === "expand") {
    const target = numbers(rest);
    need(target.length === rank, "expand takes one extent for each axis");
    target.forEach((n, d) => {
      if (n === view.shape[d]) return;
      need(view.shape[d] === 1, "axis " + d + " has " + view.shape[d] + " indices; only axes of one expand");
      view.strides[d] = 0; view.shape[d] = n;
      if (view.mask) view.mask[d] = view.mask[d][1] > view.mask[d][0] ? [0, n] : [0, 0];
    });
    return [...below, view];
  }
  if (kind === "flip") {
    for (const d of numbers(rest)) {
      need(d >= 0 && d < rank, "there is no axis " + d);
      view.offset += (view.shape[d] - 1) * view.strides[d];
      view.strides[d] = -view.strides[d];
      if (view.mask) view.mask[d] = [view.shape[d] - view.mask[d][1], view.shape[d] - view.mask[d][0]];
    }
    return [...below, view];
  }
  if (kind === "shrink") {
    const ranges = pairs();
    need(ranges.length === rank && ranges.every((r, d) => r.length === 2 && 0 <= r[0] && r[0] <= r[1] && r[1] <= view.shape[d]), "shrink takes lo:hi inside each axis");
    ranges.forEach(([lo, hi], d) => {
      view.offset += lo * view.strides[d];
      if (view.mask) view.mask[d] = view.mask[d].map(x => Math.min(Math.max(x, lo), hi) - lo);
      view.shape[d] = hi - lo;
    });
    return [...below, view];
  }
  if (kind === "pad") {
    const ends = pairs();
    need(ends.length === rank && ends.every(e => e.length === 2 && e[0] >= 0 && e[1] >= 0), "pad takes before,after for each axis");
    view.mask = (view.mask || view.shape.map(n => [0, n])).map((r, d) => [r[0] + ends[d][0], r[1] + ends[d][0]]);
    ends.forEach(([before, after], d) => { view.offset -= before * view.strides[d]; view.shape[d] += before + after; });
    return [...below, view];
  }
  if (kind === "reshape") {
    const target = numbers(rest);
    need(count(target) === count(view.shape), tuple(target) + " has " + count(target) + " elements, " + tuple(view.shape) + " has " + count(view.shape));
    return [...stack, contiguous(target)];
  }
  throw new Error("'" + step.trim() + "' is no movement: reshape, permute, expand, flip, shrink, pad");
}
function parseView(text) {
  const parts = /^\(([^)]*)\):\(([^)]*)\)([+-]\d+)?(?:\[([^)]*)\))?$/.exec(text.replace(/\s/g, ""));
  need(parts, "'" + text.trim() + "' is no view; write (2,3):(3,1)+0[0:2,0:3)");
  const view = {shape: numbers(parts[1]), strides: numbers(parts[2]), offset: Number(parts[3] || 0), mask: parts[4] == null ? null : parts[4].split(",").map(p => p.split(":").map(Number))};
  need(view.shape.length === view.strides.length && (!view.mask || view.mask.length === view.shape.length), "a view has a stride, and a range of its mask, for each axis");
  return view;
}
function runViews(program) {
  const steps = program.split("|");
  let stack = steps[0].includes(":") ? steps[0].split(" over ").map(parseView).reverse() : [contiguous(numbers(steps[0]))];
  const states = [{step: steps[0].trim(), stack}];
  for (const step of steps.slice(1)) { stack = move(stack, step); states.push({step: step.trim(), stack}); }
  return states;
}
// Throws unless every position of a view is an index of the view below it.
function checkStack(stack) {
  for (let k = 1; k < stack.length; ++k) for (const at of positions([stack[k]]))
    need(at < count(stack[k - 1].shape) && at >= -1, "position " + at + " of " + viewText(stack[k]) + " is no index of " + viewText(stack[k - 1]));
}
// The stack with one number of a view changed.
function changed(stack, k, what, axis, text) {
  const out = stack.map(copy), view = out[k];
  const integer = word => { need(/^-?\d+$/.test(word.trim()), "'" + word + "' is not an integer"); return Number(word); };
  if (what === "offset") view.offset = integer(text);
  else if (what === "valid") {
    const range = text.split(":").map(integer);
    need(range.length === 2 && 0 <= range[0] && range[0] <= range[1] && range[1] <= view.shape[axis], "a range of valid indices reads lo:hi and lies in 0:" + view.shape[axis]);
    view.mask = view.mask || view.shape.map(n => [0, n]);
    view.mask[axis] = range;
    if (view.mask.every(([lo, hi], d) => lo === 0 && hi === view.shape[d])) view.mask = null;
  } else if (what === "extent") {
    view.shape[axis] = integer(text);
    need(view.shape[axis] >= 0, "an extent is not negative");
    if (view.mask) view.mask[axis] = [0, view.shape[axis]];
  } else view.strides[axis] = integer(text);
  return out;
}
function drawEditor() {
  document.title = "Oriel: views";
  const out = element("div", {"aria-live": "polite"});
  const text = element("textarea", {rows: 2, spellcheck: "false", "aria-label": "program of views"});
  const bytes = element("select", {"aria-label": "bytes of an element", onchange: () => draw()}, [1, 2, 4, 8].map(b => element("option", {value: b, selected: b === 4}, b + " bytes")));
  const draw = () => {
    try {
      const states = runViews(text.value), last = states[states.length - 1].stack;
      need(count(last[last.length - 1].shape) <= 1e5, "more than 100,000 indices");
      checkStack(last);
      const [merged, split, marked] = mergedPart(last);
      // A changed number makes the stack the program.
      const edit = (...change) => {
        try { text.value = changed(last, ...change).reverse().map(viewText).join(" over "); } catch (error) { return refuse(error); }
        draw();
      };
      history.replaceState(null, "", "#" + encodeURIComponent(text.value));
      out.replaceChildren(...[element("table", {class: "list"}, states.map(s => element("tr", {}, element("td", {class: "code"}, s.step), element("td", {class: "code"}, s.stack.slice().reverse().map(viewText).join(" over "))))),
        element("h2", {}, "The stack"), element("div", {class: "columns"}, stackTables(last, "Views", edit)), merged, element("h2", {}, "Positions"), heatMap(last, +bytes.value, marked), split].filter(Boolean));
    } catch (error) {
      refuse(error);
    }
  };
  const refuse = error => out.replaceChildren(element("p", {class: "warn", role: "alert"}, error.message));
  text.addEventListener("input", draw);
  const shown = () => { text.value = decodeURIComponent(location.hash.slice(1)) || data.program; draw(); };
  addEventListener("hashchange", shown);
  show(element("h1", {}, "Views"), element("p", {class: "note"}, "A shape, or views such as (2,3):(3,1), then movements behind bars: reshape 4,2,3; permute 1,0; expand 4,2; flip 0; shrink 0:2,1:3; pad 1,1 0,0. The address holds the program."),
    text, element("p", {}, "Element: ", bytes), out);
  shown();
}

// ---- The answer of a command: its text, tables, and views as pictures.

function answerStack(s) {
  try {
    const stack = s.program ? runViews(s.program).pop().stack : s.views.map(parseView);
    need(count(stack[stack.length - 1].shape) <= 1e5, "more than 100,000 indices");
    return element("div", {}, stackTables(stack, "Views"), heatMap(stack, 4));
  } catch (error) {  // a movement that this page does not know
    return element("p", {class: "note"}, "not drawn: " + error.message);
  }
}
function drawAnswer() {
  document.title = "Oriel: " + data.title;
  show(element("h1", {}, data.title), data.text ? element("pre", {}, data.text) : null,
    ...data.tables.map(t => element("section", {}, element("h2", {}, t.title), element("div", {class: "scroll"}, element("table", {class: "list"}, element("thead", {}, element("tr", {}, t.head.map(h => element("th", {scope: "col"}, h)))),
      element("tbody", {}, t.rows.map(row => element("tr", {}, row.map(cell => element("td", {class: "code"}, cell))))))))),
    ...data.stacks.map(s => element("section", {}, element("h2", {}, s.title), s.program ? element("p", {class: "code"}, s.program) : null, answerStack(s))),
    ...data.bars.map(b => element("section", {}, element("h2", {}, b.title), element("table", {class: "list"}, b.rows.map(([label, share, text]) =>
      element("tr", {}, element("th", {scope: "row"}, label), element("td", {}, element("span", {class: "bar", style: "width:" + (20 * share).toFixed(2) + "rem"})), element("td", {class: "num"}, text)))))));
}

({views: drawEditor, report: drawReport, answer: drawAnswer})[data.kind]();
