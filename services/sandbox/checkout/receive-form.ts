import type { IncomingMessage } from 'node:http';
import type { Context } from 'koa';
import { say } from './answer.ts';
import type { CheckoutSetup } from './app.ts';

const LARGEST_BODY_BYTES = 4 * 1024;
const FOREIGN = 'This form was not sent from our page. Open the address again.';

/** The submitted form when it comes from our own page; else answers why it is not taken. */
export async function receiveForm(
  { capabilities, origin }: Pick<CheckoutSetup, 'capabilities' | 'origin'>,
  context: Context,
  capability: string,
): Promise<URLSearchParams | undefined> {
  if (isForeign(context, origin())) return refuse(context, 403, FOREIGN);
  if (!context.is('application/x-www-form-urlencoded')) {
    return refuse(context, 415, 'Only the form of this page is accepted.');
  }
  const form = await readForm(context.req);
  if (!form) return refuse(context, 413, 'The form is too large.');
  if (!capabilities.isFormToken(form.get('formToken') ?? '', capability)) return refuse(context, 403, FOREIGN);
  return form;
}

/** Under no-referrer browsers send `Origin: null`, to ourselves too; Sec-Fetch-Site still tells them apart. */
function isForeign(context: Context, ownOrigin: string): boolean {
  const origin = context.get('Origin');
  const site = context.get('Sec-Fetch-Site');
  return (origin !== '' && origin !== 'null' && origin !== ownOrigin) || (site !== '' && site !== 'same-origin');
}

/** What was sent is not read any further, so the connection cannot be used again. */
function refuse(context: Context, httpStatus: number, message: string): undefined {
  context.set('Connection', 'close');
  say(context, httpStatus, 'Not accepted', message);
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
