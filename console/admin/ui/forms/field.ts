import { type Failure, faultAt } from '../../failure.ts';

/** Props that all inputs of a form have. */
export interface Field {
  error: string | undefined;
  /** @param input the value, or the event of an input element */
  onChange(input: unknown): void;
}

/** The error of a field, and a handler for inputs that report a value or an event. @param valueOf the value of the element */
export function fieldProps(
  failure: Failure | undefined,
  name: string,
  valueOf: (element: HTMLInputElement) => unknown,
  set: (value: unknown) => void,
): Field {
  return {
    error: faultAt(failure, name),
    onChange: (input) => {
      const isEvent = typeof input === 'object' && input !== null && 'currentTarget' in input;
      set(isEvent ? valueOf(input.currentTarget as HTMLInputElement) : input);
    },
  };
}
