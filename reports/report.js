// Copy buttons, filters and full-screen graphs; the page is complete without them.
document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-copy]");
  if (!button) return;
  const text = button.parentElement.querySelector("code").textContent;
  const done = () => { button.textContent = "copied"; setTimeout(() => (button.textContent = "copy"), 1200); };
  if (navigator.clipboard && window.isSecureContext) { navigator.clipboard.writeText(text).then(done); return; }
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  if (document.execCommand("copy")) done();
  area.remove();
});
for (const graph of document.querySelectorAll(".graph"))
  graph.addEventListener("click", () => (document.fullscreenElement ? document.exitFullscreen() : graph.requestFullscreen()));
for (const input of document.querySelectorAll("input[data-filter]"))
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const item of document.querySelectorAll(input.dataset.filter)) {
      const text = item.textContent.toLowerCase();
      item.classList.toggle("hidden", !words.every((word) => text.includes(word)));
    }
  });
