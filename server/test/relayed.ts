import type { Relay } from '../src/domain/relay/relay.ts';

const rethrow = (error: unknown): never => {
  throw error;
};

/** Makes all due deliveries. @param onError called if one cannot be made yet, or fails unexpectedly; default: throws */
export async function deliverDue(relay: Relay, onError?: (error: unknown) => void): Promise<void> {
  const errors: unknown[] = [];
  while ((await relay.start(onError ?? ((error) => errors.push(error)))) > 0) await relay.settled();
  if (errors.length > 0) rethrow(errors[0]);
}
