"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const valueOf = (cell) => (cell === undefined ? "" : cell.dataset.value ?? cell.textContent.trim());

  function sortRows(table, column, direction) {
    const body = table.tBodies[0];
    const keyed = [...body.rows].map((row) => [valueOf(row.cells[column]), row]);
    const filled = keyed.filter(([key]) => key !== "");
    const numeric = filled.every(([key]) => Number.isFinite(Number(key)));
    const compare = numeric
      ? (a, b) => Number(a[0]) - Number(b[0])
      : (a, b) => a[0].localeCompare(b[0], "en", { numeric: true });
    filled.sort((a, b) => direction * compare(a, b));
    const empty = keyed.filter(([key]) => key === "");
    body.append(...[...filled, ...empty].map(([, row]) => row));
  }

  for (const table of all("table")) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      head.setAttribute("aria-sort", "none");
      if ([...table.tBodies[0].rows].some((row) => row.cells[column]?.classList.contains("number"))) {
        head.classList.add("number");
      }
      button.addEventListener("click", () => {
        const ascending = head.getAttribute("aria-sort") !== "ascending";
        heads.forEach((other) => other.setAttribute("aria-sort", "none"));
        head.setAttribute("aria-sort", ascending ? "ascending" : "descending");
        sortRows(table, column, ascending ? 1 : -1);
      });
    });
  }

  const filter = document.getElementById("claims-filter");
  if (filter) {
    const rows = [...document.getElementById("claims-table").tBodies[0].rows];
    const buttons = all("[data-filter]");
    const shown = document.getElementById("claims-shown");
    const apply = () => {
      const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
      const verdicts = new Set(
        buttons.filter((b) => b.getAttribute("aria-pressed") === "true").map((b) => b.dataset.filter),
      );
      for (const row of rows) {
        const text = row.textContent.toLowerCase();
        const wanted = verdicts.size === 0 || verdicts.has(row.dataset.verdict);
        row.hidden = !(wanted && words.every((word) => text.includes(word)));
      }
      const count = rows.filter((row) => !row.hidden).length;
      shown.textContent = `Showing ${count} of ${rows.length} claims`;
    };
    filter.addEventListener("input", apply);
    for (const button of buttons) {
      button.addEventListener("click", () => {
        button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") !== "true"));
        apply();
      });
    }
    filter.closest(".filters").hidden = false;
    apply();
  }

  function save(text, type, name) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  const saveRows = document.getElementById("save-rows");
  saveRows.hidden = false;
  saveRows.addEventListener("click", () =>
    save(document.getElementById("rows").textContent, "application/json", "rows.json"),
  );

  for (const button of all(".save-svg")) {
    button.hidden = false;
    button.addEventListener("click", () => {
      const svg = button.closest("figure").querySelector("svg").cloneNode(true);
      svg.setAttribute("xmlns", "http://www.w3.org/2000/svg");
      const light = document.createElement("div");
      light.className = "always-light";
      document.body.append(light);
      const colours = getComputedStyle(light);
      const text = new XMLSerializer()
        .serializeToString(svg)
        .replace(/var\((--[a-z-]+)\)/g, (_, name) => colours.getPropertyValue(name).trim());
      light.remove();
      const name = svg.getAttribute("aria-label").replace(/[^A-Za-z0-9]+/g, "-").slice(0, 80);
      save(text, "image/svg+xml", `${name}.svg`);
    });
  }

  for (const button of all(".copy")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      const code = button.parentElement.querySelector("code");
      try {
        await navigator.clipboard.writeText(code.textContent);
      } catch {
        getSelection().selectAllChildren(code);
        document.execCommand("copy");
      }
      button.textContent = "Copied";
      setTimeout(() => (button.textContent = "Copy"), 1500);
    });
  }

  addEventListener("beforeprint", () => all("details").forEach((details) => (details.open = true)));
})();
