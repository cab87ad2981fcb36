// Saves the form as it is filled in. Everything also works without this file: the button submits the form.
"use strict";
(() => {
  const form = document.querySelector("form[data-save]");
  if (!form) return;
  const status = document.getElementById("status");
  const say = form.dataset;
  let dirty = false, sending = null, timer = null, leaving = false;

  const show = (text, bad) => {
    status.textContent = text;
    status.classList.toggle("bad", Boolean(bad));
  };

  const followUps = () => {
    for (const box of form.querySelectorAll("[data-if]")) {
      const chosen = form.querySelector(`[name="${box.dataset.if}"]:checked`);
      box.hidden = !(chosen && chosen.value === box.dataset.is);
    }
  };

  const send = async () => {
    if (sending) return sending;
    sending = (async () => {
      while (dirty) {
        dirty = false;
        show(say.saving);
        try {
          const answer = await fetch(say.save, {
            method: "POST", body: new URLSearchParams(new FormData(form)), credentials: "same-origin", redirect: "error",
          });
          if (answer.status === 409) {  // another page stored something else: the server shows both
            leaving = true;
            form.submit();
            return false;
          }
          if (!answer.ok) throw new Error(String(answer.status));
          form.elements._seen.value = (await answer.json()).seen;
          show(say.saved);
        } catch (error) {
          dirty = true;
          show(error.message === "503" ? say.notstored : say.unsaved, true);
          clearTimeout(timer);
          timer = setTimeout(send, 2000);
          return false;
        }
      }
      return true;
    })();
    const done = await sending;
    sending = null;
    return done;
  };

  const changed = (wait) => {
    dirty = true;
    clearTimeout(timer);
    timer = setTimeout(send, wait);
  };

  // A number and "does not apply" share a name: the one given last stands.
  const exclusive = (field) => {
    const twins = [...form.querySelectorAll(`[name="${field.name}"]`)].filter((other) => other.type !== field.type);
    for (const twin of twins) twin.type === "radio" ? (twin.checked = false) : (twin.value = "");
  };

  form.addEventListener("change", (event) => { exclusive(event.target); followUps(); changed(0); });
  form.addEventListener("input", (event) => {
    if (!event.target.matches("textarea, [type=text]")) return;
    exclusive(event.target);
    changed(700);
  });
  window.addEventListener("online", () => { if (dirty) send(); });
  window.addEventListener("beforeunload", (event) => { if (dirty && !leaving) event.preventDefault(); });
  window.addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (leaving) return;
    const button = form.querySelector("button[type=submit]");
    button.disabled = true;
    clearTimeout(timer);
    dirty = true;
    if (sending) await sending;
    if (await send()) {
      leaving = true;
      form.submit();
    } else {
      button.disabled = false;
    }
  });

  // Number keys answer the marked question: the one in focus, else the first without an answer.
  const boxes = () => [...form.querySelectorAll("fieldset")].filter((box) => !box.hidden && box.querySelector("[type=radio]"));
  const answered = (box) => Boolean(box.querySelector("[type=radio]:checked"));
  const current = () => boxes().find((box) => box.contains(document.activeElement)) ?? boxes().find((box) => !answered(box)) ?? null;
  const mark = () => {
    const chosen = current();
    for (const box of form.querySelectorAll("fieldset")) box.classList.toggle("current", box === chosen);
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || !/^[1-9]$/.test(event.key)) return;
    if (event.target.closest("textarea, [type=text], select, summary")) return;
    const box = current();
    const option = box && [...box.querySelectorAll("[type=radio]")][Number(event.key) - 1];
    if (!option) return;
    event.preventDefault();
    option.checked = true;
    option.dispatchEvent(new Event("change", { bubbles: true }));
    const next = boxes().find((other) => !answered(other));
    const goal = next ? next.querySelector("[type=radio]") : option;
    goal.focus({ preventScroll: true });
    (next ?? box).scrollIntoView({ block: "center" });
    mark();
  });
  form.addEventListener("focusin", mark);
  form.addEventListener("change", mark);
  const hint = form.querySelector(".keys");
  if (hint && boxes().length) hint.hidden = false;

  followUps();
  mark();
})();
