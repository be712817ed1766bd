// Beside pages in a notebook's cells: fits each frame to its page, and opens a page in a tab of its own.
// Frames say how high their pages are; they can do nothing else here.
if (!window.slatevalFrames) {
  window.slatevalFrames = true;
  window.addEventListener("message", (event) => {
    const height = event.data && event.data.slatevalHeight;
    if (typeof height !== "number" || !(height > 0)) return;
    for (const frame of document.querySelectorAll("iframe.slateval")) {
      if (frame.contentWindow !== event.source) continue;
      frame.style.height = Math.min(Math.ceil(height), 30000) + "px";
      frame.previousElementSibling.hidden = false;
    }
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest && event.target.closest("a.slateval-open");
    if (!link) return;
    const page = new Blob([link.parentElement.nextElementSibling.srcdoc], { type: "text/html" });
    link.href = URL.createObjectURL(page);
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  });
}
