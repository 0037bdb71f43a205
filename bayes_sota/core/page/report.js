
"use strict";
const PAGE = 200;

function numberOf(cell) {
  const found = cell.replaceAll(",", "").match(/-?\d+(\.\d+)?(e-?\d+)?/);
  return found ? Number(found[0]) : NaN;
}

function compare(a, b) {
  const [x, y] = [numberOf(a), numberOf(b)];
  if (Number.isNaN(x) || Number.isNaN(y)) return a.localeCompare(b);
  return x - y || a.localeCompare(b);
}

function enliven(section) {
  const all = JSON.parse(section.querySelector("script").textContent);
  const heads = [...section.querySelectorAll("th")];
  const body = section.querySelector("tbody");
  const more = section.querySelector(":scope > button");
  const search = section.querySelector("input");
  const status = section.querySelector("[role=status]");
  let rows = all;
  let shown = body.rows.length;
  let sorted = { column: -1, down: false };

  function cellOf(text, column) {
    const cell = document.createElement("td");
    cell.dir = "auto";
    cell.classList.toggle("number", heads[column].classList.contains("number"));
    cell.classList.toggle("short", text.length < 24);
    cell.textContent = text;
    return cell;
  }

  function draw() {
    const lines = rows.slice(0, shown).map((row) => {
      const line = document.createElement("tr");
      line.append(...row.map(cellOf));
      return line;
    });
    body.replaceChildren(...lines);
    more.hidden = shown >= rows.length;
    const count = Math.min(shown, rows.length).toLocaleString("en");
    status.textContent = `${count} of ${rows.length.toLocaleString("en")} rows`;
  }

  function choose() {
    const wanted = search.value.toLocaleLowerCase();
    rows = all.filter((row) => row.some((cell) => cell.toLocaleLowerCase().includes(wanted)));
    if (sorted.column >= 0) {
      const sign = sorted.down ? -1 : 1;
      rows.sort((a, b) => sign * compare(a[sorted.column], b[sorted.column]));
    }
    draw();
  }

  function sort(column) {
    sorted = { column, down: sorted.column === column && !sorted.down };
    heads.forEach((head) => head.removeAttribute("aria-sort"));
    heads[column].setAttribute("aria-sort", sorted.down ? "descending" : "ascending");
    choose();
  }

  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    button.addEventListener("click", () => sort(column));
    head.replaceChildren(button);
  });
  search.addEventListener("input", choose);
  more.addEventListener("click", () => {
    shown += PAGE;
    draw();
  });
  section.querySelector(".tools").hidden = all.length < 10;
  draw();
}

function offer(button) {
  button.hidden = false;
  button.addEventListener("click", () => {
    const content = document.getElementById("content").textContent;
    const link = document.createElement("a");
    const file = new Blob([content], { type: "application/json" });
    link.href = URL.createObjectURL(file);
    link.download = "result.json";
    link.click();
    URL.revokeObjectURL(link.href);
  });
}

document.querySelectorAll("section.table").forEach((section) => enliven(section));
offer(document.getElementById("download"));
