import { type AnyOperation, useMutation } from '../../api.ts';
import type { Operation } from '../../generated/operations.ts';
import { toast } from './toast.tsx';

/** A mutation that a button runs. @param done toast after success */
export function useAction<Data, Variables>(
  operation: Operation<Data, Variables>,
  invalidates: readonly AnyOperation[],
  done: string | ((data: Data) => string),
) {
  const [mutate, busy, failure] = useMutation(operation, invalidates);
  /** Undefined if it failed. */
  const run = async (variables: Variables) => {
    const { data } = await mutate(variables);
    if (data) toast(typeof done === 'string' ? done : done(data));
    return data;
  };
  return { run, busy, failure };
}
