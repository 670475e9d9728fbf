import { CheckBox, Field } from '../shell/form.js';
import { html } from '../shell/html.js';

const DAY_SECONDS = 86_400;

/** How a value of the contract is shown, and what a field says: undefined when it is empty. */
const TEXT = { show: (value = '') => String(value), read: (text) => text || undefined };
const NUMBER = { ...TEXT, read: (text) => (text === '' ? undefined : Number(text)) };
const DAYS = {
  show: (seconds) => String(seconds / DAY_SECONDS),
  read: (text) => Math.round(Number(text) * DAY_SECONDS),
};
const LIST = { show: (values) => values.join(', '), read: (text) => text.split(/[\s,]+/).filter(Boolean) };
const CODES = { ...LIST, read: (text) => LIST.read(text.toUpperCase()) };
/** A box, ticked or not. */
const FLAG = {};

/** What a merchant is allowed: the name of each term, its form, its label, and what else its control has. */
const TERMS = [
  ['allowMultipleCaptures', FLAG, 'Several captures per hold'],
  [
    'holdPeriodSeconds',
    DAYS,
    'Hold period in days',
    { inputmode: 'decimal', required: true, hint: "Up to 30; the processor's answer wins when shorter" },
  ],
  ['currencies', CODES, 'Currencies', { required: true, hint: 'ISO 4217 codes, like EUR, USD' }],
  ['terminals', LIST, 'Terminals', { required: true, hint: 'Like till-1, till-2' }],
  ['webhookUrl', TEXT, 'Webhook URL', { hint: 'Where signed notifications go' }],
  ['internalUrl', TEXT, 'Internal URL', { hint: 'Where the relay forwards verified notifications' }],
  ['processor', TEXT, 'Card processor', { hint: 'By its name; empty for the default' }],
  ['processorAccount', TEXT, 'Account at the processor', { maxlength: 128 }],
  ['notifyHolds', FLAG, 'Notify about holds placed, declined, released and expired, too'],
  [
    'notifyExpiringHours',
    NUMBER,
    'Notify before a hold ends, hours',
    { inputmode: 'numeric', hint: '1 to 720; empty for not at all' },
  ],
  ['requireSignedCaptures', FLAG, 'Captures over REST must be signed'],
  [
    'capturePublicKey',
    TEXT,
    'Public key of captures',
    { rows: 3, spellcheck: false, hint: 'Ed25519, PEM; needed when captures are signed' },
  ],
];

/** What a merchant is allowed unless somebody says otherwise. */
const NEW_CONTRACT = { holdPeriodSeconds: 7 * DAY_SECONDS, currencies: [], terminals: [], notifyHolds: true };

export function ContractFields({ contract = NEW_CONTRACT }) {
  return TERMS.map(([name, form, label, rest]) =>
    form === FLAG
      ? html`<${CheckBox} name=${name} label=${label} defaultChecked=${contract[name]} />`
      : html`<${Field} name=${name} label=${label} defaultValue=${form.show(contract[name])} ...${rest} />`,
  );
}

/** The contract that a form says. The service judges it. */
export function readContract(data) {
  const terms = TERMS.map(([name, form]) => [name, form === FLAG ? data.has(name) : form.read(data.get(name).trim())]);
  return Object.fromEntries(terms);
}
