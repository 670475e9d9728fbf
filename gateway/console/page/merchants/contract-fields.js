import { CheckBox, Field } from '../shell/form.js';
import { html } from '../shell/view.js';

const DAY_SECONDS = 86_400;

/** How a term is shown in a control, and what the control says: undefined when it is empty. */
const TEXT = { show: (value = '') => String(value), read: (text) => text || undefined };
const LINES = { ...TEXT, control: { rows: 3, spellcheck: false } };
const ACCOUNT = { ...TEXT, control: { maxlength: 128 } };
const HOURS = { ...TEXT, read: (text) => (text ? Number(text) : undefined), control: { inputmode: 'numeric' } };
const DAYS = {
  show: (seconds) => String(seconds / DAY_SECONDS),
  read: (text) => Math.round(Number(text) * DAY_SECONDS),
  control: { inputmode: 'decimal', required: true },
};
const LIST = {
  show: (values) => values.join(', '),
  read: (text) => text.split(/[\s,]+/).filter(Boolean),
  control: { required: true },
};
const CODES = { ...LIST, read: (text) => LIST.read(text.toUpperCase()) };
/** One limit a line: OCT EUR 50000 of one operation, 200000 of a day, in minor units; - for none. */
const LIMITS = {
  show: (limits = []) =>
    limits
      .map(({ operation, currency, perOperation = '-', perDay = '-' }) =>
        [operation, currency, perOperation, perDay].join(' '),
      )
      .join('\n'),
  read: (text) => {
    const lines = text.toUpperCase().split('\n').filter(Boolean);
    return lines.length > 0 ? lines.map(readLimit) : undefined;
  },
  control: { rows: 3, spellcheck: false },
};
const OPERATIONS = { ...CODES, show: (values = []) => values.join(', '), control: {} };
/** A box, ticked or not. */
const FLAG = {};

/** What a merchant is allowed: the name of each term, its form, its label and its hint. */
const TERMS = [
  ['allowMultipleCaptures', FLAG, 'Several captures per hold'],
  ['holdPeriodSeconds', DAYS, 'Hold period in days', "Up to 30; the processor's answer wins when shorter"],
  ['currencies', CODES, 'Currencies', 'ISO 4217 codes, like EUR, USD'],
  ['terminals', LIST, 'Terminals', 'Like till-1, till-2'],
  ['webhookUrl', TEXT, 'Webhook URL', 'Where signed notifications go'],
  ['internalUrl', TEXT, 'Internal URL', 'Where the relay forwards verified notifications'],
  ['processor', TEXT, 'Card processor', 'By its name; empty for the default'],
  ['processorAccount', ACCOUNT, 'Account at the processor'],
  ['notifyHolds', FLAG, 'Notify about holds placed, declined, released and expired, too'],
  ['notifyExpiringHours', HOURS, 'Notify before a hold ends, hours', '1 to 720; empty for not at all'],
  ['allowCardLikeReferences', FLAG, 'References, users and terminals may look like card numbers'],
  ['allowOct', FLAG, 'Payouts (OCT)'],
  [
    'limits',
    LIMITS,
    'Limits',
    'One a line: OCT EUR 50000 200000, minor units of one operation and of a day; - for none',
  ],
  ['requireSignedOperations', OPERATIONS, 'Operations that must be signed over REST', 'CAPTURE, OCT, REFUND'],
  ['capturePublicKey', LINES, 'Public key of signatures', 'Ed25519, PEM; needed when operations are signed'],
];

const NEW_CONTRACT = { holdPeriodSeconds: 7 * DAY_SECONDS, currencies: [], terminals: [], notifyHolds: true };

export function ContractFields({ contract = NEW_CONTRACT }) {
  return TERMS.map(([name, form, label, hint]) =>
    form === FLAG
      ? html`<${CheckBox} name=${name} label=${label} defaultChecked=${contract[name]} />`
      : html`<${Field} name=${name} label=${label} hint=${hint} defaultValue=${form.show(contract[name])}
          ...${form.control} />`,
  );
}

/** The contract that a form says. The service judges it. */
export function readContract(data) {
  const terms = TERMS.map(([name, form]) => [name, form === FLAG ? data.has(name) : form.read(data.get(name).trim())]);
  return Object.fromEntries(terms);
}

/** A word that is no amount is sent as it is, so that the service names the limit. */
function readLimit(line) {
  const [operation, currency, perOperation, perDay] = line.trim().split(/\s+/);
  const amount = (word) => (word === '-' ? undefined : /^\d+$/.test(word) ? Number(word) : word);
  return { operation, currency, perOperation: amount(perOperation), perDay: amount(perDay) };
}
