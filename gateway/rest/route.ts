import type { Context } from 'koa';
import { z } from 'zod';
import type { GrpcCall } from '../../platform/grpc-client.ts';
import type { StreamOptions } from '../event-stream/event-stream.ts';
import type { Exporter } from '../resource/csv.ts';
import { newSecret } from '../resource/merchant.ts';
import { ownMerchantId } from '../resource/request-fields.ts';
import { describing } from '../resource/route.ts';
import { describingWrites } from '../resource/write-operation.ts';
import type { InFlightLimits } from './limit-in-flight.ts';

/** The arguments of a merchant's handler, besides the values that its schemas read. */
export interface RestCall extends StreamOptions {
  readonly ctx: Context;
  readonly merchantId: string;
  readonly inFlight: InFlightLimits;
  readonly exporter: Exporter;
  /** Options of a call to core in the name of the request's API key. */
  readonly asKey: GrpcCall;
}

/** The body of a command without fields; it need not be sent. */
export const NoFields = z.strictObject({ merchantId: ownMerchantId }).meta({ id: 'NoFields' });

/** Asks for a signing secret; it need not be sent. */
export const AddSigningSecret = z
  .strictObject({ ...newSecret, merchantId: ownMerchantId })
  .meta({ id: 'AddOwnSigningSecret' });

/** The bodies that need not be sent. */
export const OMISSIBLE: ReadonlySet<z.ZodType> = new Set([NoFields, AddSigningSecret]);

/** Describes a merchant's route. */
export const restRoute = describing<RestCall>('apiKey');

/** The same for a route that creates an operation. */
export const restWrite = describingWrites(restRoute, '/operations/{requestId}');
