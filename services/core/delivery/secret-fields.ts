/** Fields that capture a hold, open its checkout or pay with its card, wherever they stand in a notification. */
const SECRET = new Set(['preauthorizationId', 'checkoutUrl', 'tokenId', 'tokenData']);

/** A name may be spelled with escapes. */
const MAY_HAVE_SECRETS = new RegExp(`\\\\u|${[...SECRET].join('|')}`);

export const HIDDEN = '(hidden)';

/** A notification's body with the values of its secret fields replaced, and every other byte as it is sent. */
export function withoutSecrets(body: Buffer): string {
  const text = body.toString('utf8');
  let shown = text;
  for (const secret of secretTexts(text)) shown = shown.replaceAll(JSON.stringify(secret), JSON.stringify(HIDDEN));
  // A value that is spelled in another way than JSON.stringify spells it: print the whole body anew.
  return secretTexts(shown).every((each) => each === HIDDEN) ? shown : JSON.stringify(JSON.parse(text, withHidden));
}

/** The values of the secret fields of a body, numbers as text; none when it is not JSON. */
export function secretTexts(body: string): string[] {
  if (!MAY_HAVE_SECRETS.test(body)) return [];
  const texts = new Set<string>();
  const collect = (value: unknown): void => {
    if (typeof value === 'object' && value !== null) Object.values(value).forEach(collect);
    else if (value !== null && `${value}` !== '') texts.add(String(value));
  };
  try {
    JSON.parse(body, (key, value) => {
      if (SECRET.has(key)) collect(value);
      return value;
    });
  } catch {
    return [];
  }
  return [...texts];
}

function withHidden(key: string, value: unknown): unknown {
  return SECRET.has(key) ? HIDDEN : value;
}
