/** Fills the form with what the bank asks of the browser, and posts forms that only lead on. */

const form = document.querySelector('form[data-browser]');
if (form) {
  const browser = {
    colorDepth: screen.colorDepth,
    javaEnabled: navigator.javaEnabled?.() ?? false,
    language: navigator.language,
    screenHeight: screen.height,
    screenWidth: screen.width,
    timeZoneOffset: new Date().getTimezoneOffset(),
  };
  for (const [name, value] of Object.entries(browser)) form.elements.namedItem(name).value = value;
  form.querySelector('button').disabled = false;
}

/** A second click while the first is under way sends nothing; the server takes one in any case. */
let sent = false;
for (const each of document.forms) {
  each.addEventListener('submit', (event) => {
    if (sent) event.preventDefault();
    sent = true;
    event.submitter?.setAttribute('aria-busy', 'true');
  });
}
addEventListener('pageshow', () => {
  sent = false;
  for (const button of document.querySelectorAll('[aria-busy]')) button.removeAttribute('aria-busy');
});

document.querySelector('form[data-forward]')?.requestSubmit();

/** Times are written in UTC; here they move to the customer's zone. */
for (const time of document.querySelectorAll('time')) {
  const format = { hour: 'numeric', minute: '2-digit', timeZoneName: 'short' };
  time.textContent = new Date(time.dateTime).toLocaleTimeString('en', format);
}
