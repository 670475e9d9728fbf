import { useRef } from 'preact/hooks';
import { CopyButton } from './copy-button.js';
import { useDialog } from './dialog.js';
import { Loaded, useLoad } from './load.js';
import { html, View } from './view.js';

/**
 * Makes a view of one record; `id` is what its identifier is called. `read(id, known)` answers it, where `known` is
 * a map that lasts as long as the view; it is asked again every `everyMs`. `Body` shows the record, and opens dialogs
 * with `ask`.
 */
export function recordView({ title, id: idName, read, everyMs, Body }) {
  return function RecordView({ id }) {
    const known = useRef(new Map());
    const record = useLoad(() => read(id, known.current), everyMs);
    const { ask, dialog } = useDialog(record.reload);
    return html`<${View} title=${title}>
      <p class="lead"><code>${id}</code> <${CopyButton} text=${id} what="the ${idName}" /></p>
      <${Loaded} of=${record} what="the ${title.toLowerCase()}">
        ${(value) => html`<${Body} of=${value} ask=${ask} />`}
      <//>
      ${dialog}
    <//>`;
  };
}
