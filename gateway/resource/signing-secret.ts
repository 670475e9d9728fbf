import { z } from 'zod';
import { SigningSecretSchema } from '../../proto/gen/holdfast/v1/merchant_pb.js';
import { time as timeField } from './answer-fields.ts';
import { messageJson } from './core-messages.ts';
import { uuid } from './request-fields.ts';

/** A signing secret without its value. */
export const SigningSecret = z
  .object({
    signingSecretId: uuid('secret'),
    createdAt: timeField('When it was created'),
    retiredAt: timeField('When it was retired').optional(),
  })
  .meta({ id: 'SigningSecret', description: 'What may be shown of a signing secret' });

/** The value, in the one answer that carries it. */
export const signingSecret = z.string().meta({ description: 'The secret; shown this once' });

/** A new one, with its value. */
export const CreatedSigningSecret = SigningSecret.extend({ signingSecret }).meta({ id: 'CreatedSigningSecret' });

/** A signing secret of core's as JSON. */
export const signingSecretJson = messageJson(SigningSecret, SigningSecretSchema);
