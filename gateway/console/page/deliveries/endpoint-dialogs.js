import { setEndpoint } from '../api.js';
import { Confirm } from '../shell/dialog.js';
import { Field, Select } from '../shell/field.js';
import { html } from '../shell/html.js';
import { choicesOf, ENDPOINTS } from '../words/words.js';

/** Asks which endpoint to pause, unless `asked` names it, and pauses it. `onDone` hears what was done. */
export function PauseDialog({ asked, onDone, onClose }) {
  const run = async (form) => {
    const { merchantId, endpointKind } = Object.fromEntries(form);
    await setEndpoint(merchantId.trim(), endpointKind, 'pause');
    return `Nothing is sent to the ${ENDPOINTS[endpointKind]} endpoint of ${merchantId.trim()} until it is resumed.`;
  };
  return html`<${Confirm} title="Pause endpoint" action="Pause endpoint" isDangerous run=${run} onDone=${onDone} onClose=${onClose}>
    <p>Nothing is sent to it until it is resumed. Nothing is lost.</p>
    <${Field} name="merchantId" label="Merchant" required defaultValue=${asked.merchantId ?? ''} autofocus />
    <${Select} name="endpointKind" label="Endpoint" value=${asked.endpointKind} options=${choicesOf(ENDPOINTS)} />
  <//>`;
}

/** Resumes an endpoint. */
export function ResumeDialog({ asked: { merchantId, endpointKind }, onDone, onClose }) {
  const name = `the ${ENDPOINTS[endpointKind]} endpoint of ${merchantId}`;
  const run = async () => {
    await setEndpoint(merchantId, endpointKind, 'resume');
    return `Deliveries to ${name} go on.`;
  };
  return html`<${Confirm} title="Resume ${name}?" action="Resume endpoint" run=${run} onDone=${onDone} onClose=${onClose}>
    <p>Deliveries that waited are sent now.</p>
  <//>`;
}
