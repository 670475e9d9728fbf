import { CheckBox, Field, TextArea } from '../shell/field.js';
import { html } from '../shell/html.js';

const DAY_SECONDS = 86_400;

/** What a merchant is allowed unless somebody says otherwise. */
export const NEW_CONTRACT = {
  allowMultipleCaptures: false,
  holdPeriodSeconds: 7 * DAY_SECONDS,
  currencies: [],
  terminals: [],
  notifyHolds: true,
  requireSignedCaptures: false,
};

export function ContractFields({ contract }) {
  return html`
    <${CheckBox} name="allowMultipleCaptures" defaultChecked=${contract.allowMultipleCaptures}
      label="Several captures per hold" />
    <${Field} name="holdPeriodSeconds" label="Hold period in days" inputmode="decimal" required
      defaultValue=${String(contract.holdPeriodSeconds / DAY_SECONDS)}
      hint="Up to 30; the processor's answer wins when shorter" />
    <${Field} name="currencies" label="Currencies" required defaultValue=${contract.currencies.join(', ')}
      hint="ISO 4217 codes, like EUR, USD" />
    <${Field} name="terminals" label="Terminals" required defaultValue=${contract.terminals.join(', ')}
      hint="Like till-1, till-2" />
    <${Field} name="webhookUrl" label="Webhook URL" defaultValue=${contract.webhookUrl ?? ''}
      hint="Where signed notifications go" />
    <${Field} name="internalUrl" label="Internal URL" defaultValue=${contract.internalUrl ?? ''}
      hint="Where the relay forwards verified notifications" />
    <${Field} name="processor" label="Card processor" defaultValue=${contract.processor ?? ''}
      hint="By its name; empty for the default" />
    <${Field} name="processorAccount" label="Account at the processor" defaultValue=${contract.processorAccount ?? ''}
      maxlength="128" />
    <${CheckBox} name="notifyHolds" defaultChecked=${contract.notifyHolds}
      label="Notify about holds placed, declined, released and expired, too" />
    <${Field} name="notifyExpiringHours" label="Notify before a hold ends, hours" inputmode="numeric"
      defaultValue=${String(contract.notifyExpiringHours ?? '')} hint="1 to 720; empty for not at all" />
    <${CheckBox} name="requireSignedCaptures" defaultChecked=${contract.requireSignedCaptures}
      label="Captures over REST must be signed" />
    <${TextArea} name="capturePublicKey" label="Public key of captures" defaultValue=${contract.capturePublicKey ?? ''}
      hint="Ed25519, PEM; needed when captures are signed" spellcheck=${false} />
  `;
}

/** The contract that a form says. The service judges it. */
export function readContract(form) {
  const list = (name) =>
    form
      .get(name)
      .split(/[\s,]+/)
      .filter(Boolean);
  const isTicked = (name) => form.get(name) !== null;
  const optional = (name) => form.get(name).trim() || undefined;
  return {
    allowMultipleCaptures: isTicked('allowMultipleCaptures'),
    holdPeriodSeconds: Math.round(Number(form.get('holdPeriodSeconds')) * DAY_SECONDS),
    currencies: list('currencies').map((code) => code.toUpperCase()),
    terminals: list('terminals'),
    notifyHolds: isTicked('notifyHolds'),
    notifyExpiringHours: optional('notifyExpiringHours') && Number(optional('notifyExpiringHours')),
    requireSignedCaptures: isTicked('requireSignedCaptures'),
    capturePublicKey: optional('capturePublicKey'),
    webhookUrl: optional('webhookUrl'),
    internalUrl: optional('internalUrl'),
    processor: optional('processor'),
    processorAccount: optional('processorAccount'),
  };
}
