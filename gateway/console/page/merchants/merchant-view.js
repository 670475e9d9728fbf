import { useState } from 'preact/hooks';
import { readMerchant, updateMerchant } from '../api.js';
import { Field } from '../shell/field.js';
import { html } from '../shell/html.js';
import { Loaded, useLoad } from '../shell/load.js';
import { notify } from '../shell/notice.js';
import { Problem } from '../shell/problem.js';
import { linkTo } from '../shell/route.js';
import { View } from '../shell/view.js';
import { ContractFields, readContract } from './contract-fields.js';
import { Credentials } from './credentials.js';

/** One merchant: its contract, and its keys and secrets. */
export function MerchantView({ id }) {
  const merchant = useLoad(() => readMerchant(id), id);
  return html`<${View} title="Merchant ${id}">
    <p>
      <a href=${linkTo(['holds'], { merchantId: id })}>Holds</a> ·${' '}
      <a href=${linkTo(['deliveries'], { merchantId: id })}>Deliveries</a>
      ${' · '}<a href=${linkTo(['audit'], { target: id })}>Audit log</a>
    </p>
    <${Loaded} of=${merchant} what="the merchant">
      ${(value) => html`
        <${Credentials} merchant=${value} reload=${merchant.reload} />
        <section aria-labelledby="contract">
          <h2 id="contract">Contract</h2>
          <${Warnings} warnings=${value.warnings} />
          <${Contract} merchant=${value} reload=${merchant.reload} />
        </section>
      `}
    <//>
  <//>`;
}

function Contract({ merchant, reload }) {
  const [{ busy, error }, setStanding] = useState({ busy: false });
  const submit = async (event) => {
    event.preventDefault();
    const form = new FormData(event.target);
    setStanding({ busy: true });
    try {
      const { warnings = [] } = await updateMerchant({
        merchantId: merchant.merchantId,
        name: form.get('name').trim(),
        contract: readContract(form),
        etag: merchant.etag,
      });
      setStanding({ busy: false });
      notify(warnings.length > 0 ? 'The contract is saved, with a warning.' : 'The contract is saved.');
      reload();
    } catch (refusal) {
      setStanding({ busy: false, error: refusal });
    }
  };
  return html`<form class="card" onSubmit=${submit}>
    <p class="quiet">Holds placed before keep the terms they were placed under.</p>
    <${Field} name="name" label="Name" required maxlength="100" defaultValue=${merchant.name} />
    <${ContractFields} contract=${merchant.contract} />
    ${error && html`<${Problem} error=${error} />`}
    <div class="buttons"><button type="submit" class="main"
      disabled=${busy}>${busy ? 'Saving…' : 'Save the contract'}</button></div>
  </form>`;
}

/** Accepted, and maybe not working: only the workers know the networks that they may deliver to. */
function Warnings({ warnings = [] }) {
  if (warnings.length === 0) return null;
  return html`<div class="hint" role="note">
    ${warnings.map(({ field, message }) => html`<p><strong>${LABELS[field] ?? field}:</strong> ${message}.</p>`)}
  </div>`;
}

const LABELS = { 'contract.webhookUrl': 'Webhook URL', 'contract.internalUrl': 'Internal URL' };
