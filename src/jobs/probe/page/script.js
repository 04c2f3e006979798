"use strict";
const box = document.getElementById("filter");
if (box) {
  const rows = Array.from(document.querySelectorAll("#findings tbody tr"));
  const count = document.getElementById("count");
  const show = () => {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
      if (!row.hidden) shown += 1;
    }
    count.textContent = shown + " of " + rows.length;
  };
  box.addEventListener("input", show);
  show();
}
