import { NOTIFICATION_HEADERS, NOTIFICATIONS, Notification } from './notification.ts';
import { contentOf, parametersOf } from './operation.ts';
import type { Schemas } from './schemas.ts';

/** What is sent to merchants, as OpenAPI webhooks. */
export function webhooksOf(schemas: Schemas): Record<string, unknown> {
  const entries = Object.entries(NOTIFICATIONS).map(([name, { kind, summary, words, example }]) => {
    const examples = [{ name: words[0], summary, value: example }];
    return [
      name,
      {
        post: {
          operationId: name,
          tags: ['Notifications'],
          summary,
          description:
            `Sent to \`{webhookUrl}/webhook/processor/${kind}/{statusInfo}\`, where statusInfo is one of ${words.join(', ')}. ` +
            'At least once, in no promised order: take each requestId once, and answer when it is stored.',
          security: [{ serviceSignature: [] }],
          parameters: parametersOf({ headers: NOTIFICATION_HEADERS }, [], schemas),
          requestBody: {
            required: true,
            content: { 'application/json': contentOf(Notification, examples, ({ value }) => value, schemas) },
          },
          responses: RESPONSES,
        },
      },
    ];
  });
  return Object.fromEntries(entries);
}

const RESPONSES = {
  '2XX': { description: 'Stored; it is not sent again' },
  410: { description: 'Nobody listens here any more; nothing is sent until an operator resumes' },
  429: { description: 'Too fast; sent again after Retry-After' },
  503: { description: 'Not now; sent again after Retry-After' },
  default: { description: 'Sent again about 2 s, 10 s, 1 min, 5 min, 30 min, 2 h, 6 h, 12 h and 24 h later' },
};
