/**
 * Whether a text holds what looks like a card number: a run of 13 to 19 digits that passes the Luhn check (ISO/IEC
 * 7812-1), also when written in groups of four. Inside a longer text a run that begins with 1 is let pass: no card of
 * the schemes does, and every Unix time in milliseconds, microseconds or nanoseconds does until 2033. A UUID is none: its
 * groups of four would look like one in about one of 2 300, and most idempotency keys are UUIDs.
 */
export function hasCardNumber(text: string): boolean {
  const ungrouped = text
    .replace(UUID, ' ')
    .replace(/\d{4}(?:[ -]\d{4}){2,3}[ -]\d{1,7}/g, (group) => group.replace(/[ -]/g, ''));
  if (/^\d{13,19}$/.test(ungrouped)) return passesLuhn(ungrouped);
  return (ungrouped.match(/\d+/g) ?? []).some(
    (run) => run.length >= 13 && run.length <= 19 && !run.startsWith('1') && passesLuhn(run),
  );
}

const UUID = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi;

function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let place = 1; place <= digits.length; place++) {
    const digit = Number(digits[digits.length - place]);
    const doubled = place % 2 === 0 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}
