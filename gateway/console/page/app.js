import { render } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { onSessionEnd, readSession, signIn } from './api.js';
import { Frame } from './frame.js';
import { ShownOnce } from './merchants/shown-once.js';
import { Field } from './shell/field.js';
import { html } from './shell/html.js';
import { Problem } from './shell/problem.js';

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
  if (standing.is === 'in') return html`<${Frame} onSignedOut=${() => setStanding({ is: 'out' })} />`;
  if (standing.is === 'out')
    return html`<${Login} isOver=${standing.isOver} onSignedIn=${() => setStanding({ is: 'in' })} />`;
  return html`<main class="alone">
    ${
      standing.is === 'away'
        ? html`<${Problem} error=${standing.error} retry=${ask} />`
        : html`<p role="status">Loading…</p>`
    }
  </main>`;
}

/** Asks for the operator token, which is sent once and kept nowhere in the browser. */
function Login({ isOver, onSignedIn }) {
  const form = useRef();
  const [{ busy, wrong, error }, setStanding] = useState({ busy: false });
  useEffect(() => {
    document.title = 'Sign in · Holdfast';
    form.current.elements.token.focus();
  }, []);
  const submit = async (event) => {
    event.preventDefault();
    const { token: field, operator } = form.current.elements;
    setStanding({ busy: true });
    try {
      await signIn(field.value.trim(), operator.value.trim());
      onSignedIn();
    } catch (refusal) {
      setStanding({ busy: false, ...sayOf(refusal) });
      field.select();
    }
  };
  return html`<main class="alone">
    <p class="brand">Holdfast</p>
    <h1>Sign in to the console</h1>
    ${isOver && html`<p class="hint" role="alert">Your session is over. Sign in again to go on where you were.</p>`}
    <form ref=${form} onSubmit=${submit}>
      <${Field} name="token" type="password" label="Operator token" error=${wrong} required
        hint="The token is sent once; the browser keeps only a session." />
      <${Field} name="operator" label="Your name (optional)" maxlength="64"
        hint="So that the audit log says who it was" />
      ${error && html`<${Problem} error=${error} />`}
      <button type="submit" class="main wide" disabled=${busy}>${busy ? 'Signing in…' : 'Sign in'}</button>
    </form>
    <p class="hidden" role="status">${wrong}</p>
  </main>`;
}

function sayOf(refusal) {
  if (refusal.status === 401) return { wrong: 'This is not the operator token.' };
  if (refusal.status === 429) {
    const wait = refusal.retryAfterSeconds ? ` Try again in ${refusal.retryAfterSeconds} seconds.` : '';
    return { wrong: `Too many attempts.${wait}` };
  }
  return { error: refusal };
}

// A secret that is shown once outlives the session.
render(html`<${Standing} /><${ShownOnce} />`, document.getElementById('app'));
