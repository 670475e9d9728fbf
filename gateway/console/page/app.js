import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { onSessionEnd, readSession, signIn } from './api.js';
import { Frame } from './frame.js';
import { ShownOnce } from './merchants/shown-once.js';
import { Field, Form } from './shell/form.js';
import { html, Problem } from './shell/view.js';

/** The login, or the views behind it. */
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
  const { is, error, isOver } = standing;
  if (is === 'in') return html`<${Frame} onSignedOut=${() => setStanding({ is: 'out' })} />`;
  if (is === 'out') return html`<${Login} isOver=${isOver} onSignedIn=${() => setStanding({ is: 'in' })} />`;
  return html`<main class="alone">
    ${error ? html`<${Problem} error=${error} retry=${ask} />` : html`<p role="status">Loading…</p>`}
  </main>`;
}

/** Asks for the operator token, which is sent once and kept nowhere in the browser. */
function Login({ isOver, onSignedIn }) {
  const [wrong, setWrong] = useState();
  useEffect(() => {
    document.title = 'Sign in · Holdfast';
    document.querySelector('main input').focus();
  }, []);
  const run = async (_, { elements: { token, operator } }) => {
    setWrong(undefined);
    try {
      await signIn(token.value.trim(), operator.value.trim());
      onSignedIn();
    } catch (refusal) {
      token.select();
      setWrong(wrongOf(refusal));
      if (!wrongOf(refusal)) throw refusal;
    }
  };
  return html`<main class="alone">
    <p class="brand">Holdfast</p>
    <h1>Sign in to the console</h1>
    ${isOver && html`<p class="hint" role="alert">Your session is over. Sign in again to go on where you were.</p>`}
    <${Form} action="Sign in" working="Signing in…" tone="main wide" run=${run}>
      <${Field} name="token" type="password" label="Operator token" error=${wrong} required
        hint="The token is sent once; the browser keeps only a session." />
      <${Field} name="operator" label="Your name (optional)" maxlength="64"
        hint="So that the audit log says who it was" />
    <//>
    <p class="hidden" role="status">${wrong}</p>
  </main>`;
}

/** What is wrong with the token, when it was that. */
function wrongOf({ status, retryAfterSeconds }) {
  if (status === 401) return 'This is not the operator token.';
  if (status !== 429) return undefined;
  return `Too many attempts.${retryAfterSeconds ? ` Try again in ${retryAfterSeconds} seconds.` : ''}`;
}

// A secret that is shown once outlives the session.
render(html`<${Standing} /><${ShownOnce} />`, document.getElementById('app'));
