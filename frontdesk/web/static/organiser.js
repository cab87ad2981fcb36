// Shows the page anew every ten seconds while it is looked at. Without this file, reloading does the same.
"use strict";
(() => {
  const wait = 10000;
  const again = async () => {
    if (!document.hidden) {
      try {
        const answer = await fetch(location.href, { credentials: "same-origin" });
        if (answer.ok) {
          const page = new DOMParser().parseFromString(await answer.text(), "text/html");
          for (const part of document.querySelectorAll("[data-live]")) {
            const fresh = page.getElementById(part.id);
            if (fresh && fresh.textContent !== part.textContent) part.replaceWith(document.adoptNode(fresh));
          }
        }
      } catch { /* the next time may be better */ }
    }
    setTimeout(again, wait);
  };
  setTimeout(again, wait);
})();
