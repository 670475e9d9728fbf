import { file, grpcTarget, host, token } from '../settings.ts';

/** The settings of every adapter. */
export const ADAPTER_SETTINGS = {
  HOST: host,
  /** Core's gRPC address, where events are reported. */
  CORE_URL: grpcTarget.default('127.0.0.1:50051'),
  /** Bearer token that the adapter shows to core. */
  PROCESSOR_TOKEN: token,
  /** Bearer token that core must show. */
  PROCESSOR_CREDENTIAL: token,
  /** PEM files of the channel to core. Unset: core is called in clear. */
  CORE_TLS_CA: file,
  CORE_TLS_CERT: file,
  CORE_TLS_KEY: file,
  CORE_TLS_NAME: file,
};
