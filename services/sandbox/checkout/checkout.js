/** Comforts of the page; without them it works as well. */

const form = document.querySelector('form[data-card]');
const number = form?.elements.namedItem('number');

/** Groups the digits in fours, as cards print them, and keeps the caret behind the digit that it stood behind. */
function group() {
  const { value, selectionStart } = number;
  if (/[^0-9\s-]/.test(value)) return;
  const digitsBefore = value.slice(0, selectionStart).replace(/\D/g, '').length;
  const grouped = value.replace(/\D/g, '').replace(/(.{4})(?=.)/g, '$1 ');
  if (grouped === value) return;
  number.value = grouped;
  const caret = digitsBefore + Math.floor(Math.max(0, digitsBefore - 1) / 4);
  number.setSelectionRange(caret, caret);
}

number?.addEventListener('input', group);
if (number) group();

/** A second click while the first is under way sends nothing; the server takes one card at a time in any case. */
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

/** Times are written in UTC; here they move to the customer's zone. */
for (const time of document.querySelectorAll('time')) {
  const format = { hour: 'numeric', minute: '2-digit', timeZoneName: 'short' };
  time.textContent = new Date(time.dateTime).toLocaleTimeString('en', format);
}
