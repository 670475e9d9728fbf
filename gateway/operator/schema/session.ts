import { z } from 'zod';
import * as answers from '../../rest/schema/answer-fields.ts';

/** A person's name, as the audit log keeps it. */
export const operatorName = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9 ._@+-]{0,63}$/, 'must be a letter, then at most 63 letters, digits or " ._@+-"')
  .meta({ description: 'Who it is, for the audit log', examples: ['alice'] });

/** Body of POST /operator/session. */
export const SignInBody = z
  .strictObject({
    token: z.string().min(1).max(256).meta({ description: 'The operator token' }),
    operator: operatorName.optional(),
  })
  .meta({ id: 'SignIn', description: 'Starts a console session of 8 hours' });

/** Answer of POST and GET /operator/session. */
export const OperatorSession = z
  .object({
    operator: operatorName.optional(),
    csrfToken: z
      .string()
      .meta({ description: 'What calls that change something carry in X-CSRF-Token; absent with a bearer token' })
      .optional(),
    expiresAt: answers.time('When the session ends; absent with a bearer token').optional(),
  })
  .meta({ id: 'OperatorSession' });
