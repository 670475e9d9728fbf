/** Stripe's request bodies: nested fields in `application/x-www-form-urlencoded`; every value is a string. */

/** A decoded body. */
export interface Form {
  readonly [name: string]: string | Form | undefined;
}

/** Decodes `a[b][c]=1`. An empty string unsets. */
export function decodeForm(text: string): Form {
  const form: Record<string, unknown> = {};
  for (const [path, value] of new URLSearchParams(text)) {
    const names = [...path.matchAll(/[^[\]]+/g)].map(([name]) => name);
    let at = form;
    for (const name of names.slice(0, -1)) {
      at[name] ??= {};
      at = at[name] as Record<string, unknown>;
    }
    at[names.at(-1) ?? ''] = value;
  }
  return form as Form;
}

/** Reads a string. */
export function textOf(form: Form, name: string): string | undefined {
  const value = form[name];
  return typeof value === 'string' ? value : undefined;
}

/** Reads nested fields. */
export function formOf(form: Form, name: string): Form {
  const value = form[name];
  return typeof value === 'object' ? value : {};
}

/** Reads an integer. */
export function numberOf(form: Form, name: string): number | undefined {
  const text = textOf(form, name);
  return text === undefined ? undefined : Number(text);
}
