import type { Route } from '../http/route.ts';
import type { Request } from './examples/example.ts';
import { PLACEHOLDER } from './introduction.ts';

/** The header with each credential. Shell variables stand for the secrets. */
const CREDENTIALS: Readonly<Partial<Record<Route['credential'], string>>> = {
  apiKey: 'Authorization: Bearer $API_KEY',
  operator: 'Authorization: Bearer $OPERATOR_TOKEN',
  serviceSignature: 'X-Service-Signature: $SIGNATURE',
  senderSignature: 'X-Hub-Signature-256: $SIGNATURE',
};

/** A curl command for an example of a route. */
export function curlOf(route: Route, { parameters = {}, body }: Request): string {
  const { method, path, query = { shape: {} }, headers = {} } = route;
  const given = Object.entries(parameters).map(([name, value]): [string, string] => [name, String(value)]);
  const target = path.replace(/\{(\w+)\}/g, (_, name: string) => String(parameters[name]));
  const asked = new URLSearchParams(given.filter(([name]) => name in query.shape)).toString();
  const credential = CREDENTIALS[route.credential];
  const parts = [
    `curl${method === 'get' ? '' : ` -X ${method.toUpperCase()}`} "${PLACEHOLDER}${target}${asked && `?${asked}`}"`,
    ...(credential === undefined ? [] : [`-H "${credential}"`]),
    ...given.filter(([name]) => name in headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`-H 'Content-Type: application/json'`, `-d ${quoted(JSON.stringify(body))}`]),
  ];
  return parts.join(' \\\n  ');
}

/** A word of the shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
