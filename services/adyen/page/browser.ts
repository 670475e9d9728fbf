import { z } from 'zod';
import { plainText } from '../../../platform/adapter/plain-text.ts';
import type { Browser } from '../ledger/entry.ts';

const whole = (least: number, most: number) =>
  z
    .string()
    .regex(/^-?\d{1,6}$/)
    .transform(Number)
    .pipe(z.int().min(least).max(most));

/** What the page's script writes into the form. */
const FIELDS = z.object({
  colorDepth: whole(1, 1_000).transform(colorDepthOf),
  javaEnabled: z.enum(['true', 'false']).transform((value) => value === 'true'),
  language: z.string().regex(/^[A-Za-z0-9-]{1,35}$/),
  screenHeight: whole(1, 999_999),
  screenWidth: whole(1, 999_999),
  timeZoneOffset: whole(-840, 840),
});

/** The depths that Adyen takes, bits (its OpenAPI document, BrowserInfo). */
const DEPTHS = [1, 4, 8, 15, 16, 24, 30, 32, 48];

/** A depth between two of them counts as the lower one. */
function colorDepthOf(bits: number): number {
  return DEPTHS.findLast((depth) => depth <= bits) ?? 1;
}

/** What came with the form besides. */
interface Sent {
  readonly userAgent: string;
  readonly acceptHeader: string;
  /** Undefined = not known. */
  readonly address: string | undefined;
}

/** Characters of a header that are kept (EMVCo allows 2048). */
const LONGEST_HEADER = 2_048;

/** What Adyen asks of a browser that sent the form; undefined when the form does not say it, as without JavaScript. */
export function readBrowser(form: URLSearchParams, { userAgent, acceptHeader, address }: Sent): Browser | undefined {
  const { data } = FIELDS.safeParse(Object.fromEntries(form));
  if (!data || userAgent === '') return undefined;
  const header = (text: string) => plainText(text).slice(0, LONGEST_HEADER);
  const browserInfo = { ...data, userAgent: header(userAgent), acceptHeader: header(acceptHeader || '*/*') };
  return { browserInfo: { ...browserInfo, javaScriptEnabled: true }, ...(address && { shopperIP: address }) };
}
