import { CopyButton } from '../shell/copy-button.js';
import { html } from '../shell/html.js';

/** What an attempt sends: address, headers, body. Tokens in the body and most of each signature are withheld by the service. */
export function Content({ content: { url, headers, body } }) {
  return html`<section aria-labelledby="sends">
    <h2 id="sends">What is sent</h2>
    ${
      url
        ? html`<p><strong>POST</strong> <code>${url}</code> <${CopyButton} text=${url} what="the address" isSmall /></p>`
        : html`<p class="hint">The merchant has no such endpoint now. Every attempt fails until its contract names one.</p>`
    }
    ${
      headers.length > 0 &&
      html`<dl class="headers">
        ${headers.map(({ name, value }) => html`<div><dt>${name}</dt><dd><code>${value}</code></dd></div>`)}
      </dl>`
    }
    ${
      body
        ? html`<div class="body"><${CopyButton} text=${body} what="the body" /><pre tabindex="0" aria-label="Body">${body}</pre></div>`
        : html`<p class="quiet">The body was deleted at the end of its retention time.</p>`
    }
    <p class="quiet">As an attempt would send it now. Signatures are shortened, tokens are hidden.</p>
  </section>`;
}
