import htm from 'htm';
import { h } from 'preact';

/** Builds what is shown from a template. Whatever is put into it becomes text or an attribute, never markup. */
export const html = htm.bind(h);
