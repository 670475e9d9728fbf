/** A customer at the pages of the adapter and of the fake issuer, without a browser of its own. */

/** What a browser says of itself. */
export const BROWSER = {
  colorDepth: '24',
  javaEnabled: 'false',
  language: 'nl-NL',
  screenHeight: '1080',
  screenWidth: '1920',
  timeZoneOffset: '-60',
};

const HEADERS = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64)', accept: 'text/html,*/*;q=0.8' };

/** An answer to a customer. */
export interface Answered {
  readonly status: number;
  readonly page: string;
  readonly location: string | undefined;
  readonly headers: Headers;
}

async function answered(asking: Promise<Response>): Promise<Answered> {
  const { status, headers, ...response } = await asking.then(async (one) => ({
    status: one.status,
    headers: one.headers,
    page: await one.text(),
  }));
  return { ...response, status, headers, location: headers.get('location') ?? undefined };
}

/** Opens an address, such as a page, or the one to come back to. */
export function open(url: string, headers: Record<string, string> = {}): Promise<Answered> {
  return answered(fetch(url, { headers: { ...HEADERS, ...headers }, redirect: 'manual' }));
}

/** Submits the form of a page. */
export function goOn(url: string, fields: Record<string, string> = BROWSER, headers: Record<string, string> = {}) {
  const body = new URLSearchParams(fields);
  return answered(fetch(url, { method: 'POST', body, headers: { ...HEADERS, ...headers }, redirect: 'manual' }));
}

/** Answers at the fake issuer's page; returns where that leads. */
export async function answerIssuer(issuerUrl: string, does: 'confirm' | 'refuse'): Promise<string> {
  const { location } = await open(`${issuerUrl}?does=${does}`);
  if (location === undefined) throw new Error('the issuer leads nowhere');
  return location;
}
