"use strict";
if (Arena.data.has("summary") && Arena.data.has("index")) {
  window.addEventListener("pagehide", () => Address.write());
  Browser.start();
  Board.start();
  Browser.resume();
} else {
  const place = document.getElementById("trouble");
  place.textContent = "data/summary.js, data/index.js?";
  place.hidden = false;
}
