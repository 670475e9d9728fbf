import { useRef } from 'preact/hooks';
import { html } from '../shell/html.js';
import { searchFor } from './search-view.js';

/** Finds whatever an operator has in front of them. */
export function SearchBox() {
  const input = useRef();
  const submit = (event) => {
    event.preventDefault();
    const { value } = input.current;
    if (value.trim() === '') return;
    input.current.value = '';
    searchFor(value);
  };
  return html`<search aria-label="Everything"><form class="search" onSubmit=${submit}>
    <input ref=${input} type="search" aria-label="Find anything" placeholder="ID or its end, reference, last four digits"
      autocomplete="off" spellcheck=${false} minlength="4" maxlength="128" />
    <button type="submit">Find</button>
  </form></search>`;
}
