import type { IncomingMessage } from 'node:http';
import type { Context } from 'koa';
import { say } from './answer.ts';
import type { CheckoutSetup } from './setup.ts';
import type { Refusal } from './words/words.ts';

const LARGEST_BODY_BYTES = 4 * 1024;

/** The submitted form when it comes from our own page; else answers why it is not taken. */
export async function receiveForm(
  { capabilities, origin }: Pick<CheckoutSetup, 'capabilities' | 'origin'>,
  context: Context,
  capability: string,
): Promise<URLSearchParams | undefined> {
  if (isForeign(context, origin())) return refuse(context, 403, 'foreign');
  if (!context.is('application/x-www-form-urlencoded')) {
    return refuse(context, 415, 'wrongType');
  }
  const form = await readForm(context.req);
  if (!form) return refuse(context, 413, 'tooLarge');
  if (!capabilities.isFormToken(form.get('formToken') ?? '', capability)) return refuse(context, 403, 'foreign');
  return form;
}

/** Under no-referrer browsers send `Origin: null`, to ourselves too; Sec-Fetch-Site still tells them apart. */
function isForeign(context: Context, ownOrigin: string): boolean {
  const origin = context.get('Origin');
  const site = context.get('Sec-Fetch-Site');
  return (origin !== '' && origin !== 'null' && origin !== ownOrigin) || (site !== '' && site !== 'same-origin');
}

/** What was sent is not read any further, so the connection cannot be used again. */
function refuse(context: Context, httpStatus: number, refusal: Refusal): undefined {
  context.set('Connection', 'close');
  say(context, httpStatus, ({ words }) => ({ title: words.notAccepted, message: words.refusals[refusal] }));
}

/** Reads a small form; undefined = it is too large. The server's requestTimeout ends a slow one. */
async function readForm(request: IncomingMessage): Promise<URLSearchParams | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    length += chunk.length;
    if (length > LARGEST_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return new URLSearchParams(Buffer.concat(chunks).toString('utf8'));
}
