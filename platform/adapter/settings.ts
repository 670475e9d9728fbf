import { file, grpcTarget, host, token } from '../settings.ts';

/** The settings of every adapter. */
export const ADAPTER_SETTINGS = {
  HOST: host.describe('address to listen on'),
  CORE_URL: grpcTarget.default('127.0.0.1:50051').describe('`host:port`, or `dns:///…` to balance over several'),
  PROCESSOR_TOKEN: token.describe('role processor'),
  PROCESSOR_CREDENTIAL: token.describe('token that core shows to the processor'),
  CORE_TLS_CA: file.describe("authorities of core's certificate, or `system`"),
  CORE_TLS_CERT: file.describe('shown to core'),
  CORE_TLS_KEY: file.describe('its key'),
  CORE_TLS_NAME: file.describe("name in core's certificate, when not the one in `CORE_URL`"),
};
