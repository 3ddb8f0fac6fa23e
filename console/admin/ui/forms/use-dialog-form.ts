import { useState } from 'react';
import { type AnyOperation, useMutation } from '../../api.ts';
import { faultAt } from '../../failure.ts';
import type { Operation } from '../../generated/operations.ts';
import type { GraphqlRequest } from '../code/show-graphql.tsx';
import { toast } from '../feedback/toast.tsx';
import { type Field, fieldProps } from './field.ts';

interface DialogFormOptions<Values, Request extends GraphqlRequest> {
  initial: Values | (() => Values);
  /** The API request that saves these values. Always the same operation. */
  request(values: Values): Request;
  invalidates: readonly AnyOperation[];
  /** Toast after success, which also closes the dialog. */
  done?: string;
  onDone?(data: DataOf<Request>): void;
  onClose(): void;
}

type DataOf<Request> = Request extends GraphqlRequest<infer Data> ? Data : never;

/** State of a form in a dialog. Its `props` are for `DialogForm`. */
export function useDialogForm<Values extends object, Request extends GraphqlRequest>(
  options: DialogFormOptions<Values, Request>,
) {
  const { initial, invalidates, done, onDone, onClose } = options;
  const [values, setValues] = useState(initial);
  const graphql = options.request(values);
  const operation = graphql.operation as Operation<DataOf<Request>, object>;
  const [mutate, busy, failure] = useMutation(operation, invalidates);
  const set = (change: Partial<Values>) => setValues((before) => ({ ...before, ...change }));
  // Fields that show their own errors: filled while they are rendered, read after that.
  const fields: string[] = [];
  const props = (name: string, valueOf: (input: HTMLInputElement) => unknown): Field => {
    fields.push(name);
    return fieldProps(failure, name, valueOf, (value) => set({ [name]: value } as Partial<Values>));
  };
  const submit = async () => {
    const { data } = await mutate(graphql.variables);
    if (!data) return;
    if (done !== undefined) {
      toast(done);
      onClose();
    }
    onDone?.(data);
  };
  return {
    values,
    set,
    failure,
    props: { busy, failure, fields, graphql, onSubmit: () => void submit(), onClose },
    /** Props of the field's input. */
    field: <Name extends keyof Values & string>(name: Name) => ({
      ...props(name, ({ value }) => value),
      value: values[name],
    }),
    /** Props of the field's switch or checkbox. */
    toggle: (name: keyof Values & string) => ({
      ...props(name, ({ checked }) => checked),
      checked: values[name] === true,
    }),
    /** The error of a field with a custom input. */
    faultAt(name: string) {
      fields.push(name);
      return faultAt(failure, name);
    },
  };
}
