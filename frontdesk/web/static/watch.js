// The page renews itself: it asks for itself again and takes over what is shown, so that no place is lost.
"use strict";
async function renew() {
  try {
    const answer = await fetch(location.href, { cache: "no-store" });
    if (!answer.ok) throw new Error(String(answer.status));
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    document.body.removeAttribute("data-gone");
    for (const old of document.querySelectorAll("body > :not(script, noscript)")) old.remove();
    const fresh = page.querySelectorAll("body > :not(script, noscript)");
    document.body.prepend(...fresh);
  } catch {
    document.body.setAttribute("data-gone", "");
  }
  setTimeout(renew, 2000);
}
setTimeout(renew, 2000);
