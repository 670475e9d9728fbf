import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { onSessionEnd, readSession } from './api.js';
import { Frame } from './frame.js';
import { Login } from './login.js';
import { ShownOnce } from './merchants/shown-once.js';
import { html } from './shell/html.js';
import { Problem } from './shell/problem.js';

/** The console: the login, or the views behind it, and what must outlive both. */
function Console() {
  return html`<${Standing} /><${ShownOnce} />`;
}

function Standing() {
  const [standing, setStanding] = useState({ is: 'asking' });
  const ask = () =>
    readSession().then(
      (session) => setStanding({ is: session ? 'in' : 'out' }),
      (error) => setStanding({ is: 'away', error }),
    );
  useEffect(() => {
    onSessionEnd(() => setStanding((before) => (before.is === 'in' ? { is: 'out', isOver: true } : before)));
    ask();
  }, []);
  if (standing.is === 'in') return html`<${Frame} onSignedOut=${() => setStanding({ is: 'out' })} />`;
  if (standing.is === 'out')
    return html`<${Login} isOver=${standing.isOver} onSignedIn=${() => setStanding({ is: 'in' })} />`;
  return html`<main class="alone">
    ${standing.is === 'away' ? html`<${Problem} error=${standing.error} retry=${ask} />` : html`<p role="status">Loading…</p>`}
  </main>`;
}

render(html`<${Console} />`, document.getElementById('app'));
