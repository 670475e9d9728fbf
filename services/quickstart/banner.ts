/** The text that `npm start` prints when everything runs. */
import { relative } from 'node:path';
import { writePrivateFile } from './data-dir.ts';
import type { Quickstart } from './quickstart.ts';

/**
 * Returns the banner, with commands to copy. It contains no credential: it writes `${DATA_DIR}/demo.curl` and
 * `demo.env` (mode 0600), from which curl and `holdfast` read the key, so that the key appears on no screen, in no
 * shell history and in no process list.
 */
export async function banner({ file, dataDir, note }: Omit<Quickstart, 'stop'>): Promise<string> {
  const curl = `${dataDir}/demo.curl`;
  const headers = [`header = "authorization: Bearer ${file.apiKey}"`, 'header = "content-type: application/json"'];
  await writePrivateFile(curl, `${[...headers, 'silent', 'show-error', 'write-out = "\\n"'].join('\n')}\n`);
  const environment = `${dataDir}/demo.env`;
  const address = `HOLDFAST_BASE_URL=${file.baseUrl}\n`;
  const secrets = `HOLDFAST_API_KEY=${file.apiKey}\nSIGNING_SECRET=${file.signingSecret}\n`;
  await writePrivateFile(environment, address + secrets);
  const holdfast = `npx node --env-file=${quoted(shorter(environment))} client/command/main.ts`;
  const call = `curl -K ${quoted(shorter(curl))} ${file.baseUrl}`;
  const stripe = file.stripe === undefined ? '' : `\n  Stripe events to ${file.stripe.webhookUrl}`;
  const order = '"amount":1050,"currency":"EUR","terminalId":"till-1","userId":"ann"';
  return `
Holdfast runs.

  REST and relay   ${file.baseUrl}
  console          ${file.consoleUrl}
  gRPC             ${file.coreUrl}
  Connect          ${file.connectUrl}
  demo merchant    ${file.demoMerchantUrl}/received${stripe}
  credentials      ${shorter(dataDir)}/quickstart.json
  logs             ${shorter(dataDir)}/logs
  metrics          ${file.metricsUrls.core} and ${file.metricsUrls.worker}, with the operator token
${note === undefined ? '' : `\n  ${note}\n`}
Place a hold of 10.50 EUR with a card token:

  ${call}/preauthorization -d '{"tokenId":"tok_sandbox_ok",${order}}'

Capture 4.00 of it, with the preauthorizationId from the answer:

  ${call}/preauthorization/authorization -d '{"preauthorizationId":"PASTE_IT_HERE","amountToCapture":400}'

Or let the customer enter a card: open the checkoutUrl that this answers (test card 4242 4242 4242 4242):

  ${call}/preauthorization -d '{${order},"returnUrl":"${file.demoMerchantUrl}/return"}'

See the verified notifications that the demo merchant received:

  curl ${file.demoMerchantUrl}/received

Get them at a port of yours instead, while your receiver runs there; then make one:

  ${holdfast} listen --forward-to http://localhost:3000/webhooks
  ${holdfast} trigger captured

Follow and drive it all by clicking: open the console and sign in with the operator token, which this shows:

  grep operatorToken ${quoted(shorter(dataDir))}/quickstart.json

Ctrl-C stops everything; the data stays in ${shorter(dataDir)}.
`;
}

function shorter(path: string): string {
  const short = relative(process.cwd(), path);
  return short !== '' && !short.startsWith('..') ? short : path;
}

function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
