import { GraphQLDateTime, GraphQLJSON, GraphQLJSONObject } from 'graphql-scalars';
import { type ClassType, Field, Float, ID, InputType, Int, ObjectType } from 'type-graphql';

type GraphqlType = ReturnType<NonNullable<Parameters<typeof Field>[0]>>;

/** A field of a view or an input; `Value` is its type in TypeScript. */
export interface FieldOf<Value> {
  type: GraphqlType;
  description: string | undefined;
  nullable?: boolean;
  /** Only a type. */
  value?: Value;
}

type Shape = Readonly<Record<string, FieldOf<unknown>>>;
type ValueOf<F> = F extends FieldOf<infer Value> ? Value : never;
type View<S extends Shape> = { [Name in keyof S]: ValueOf<S[Name]> };
type Input<S extends Shape> = {
  [Name in keyof S as null extends ValueOf<S[Name]> ? never : Name]: ValueOf<S[Name]>;
} & { [Name in keyof S as null extends ValueOf<S[Name]> ? Name : never]?: ValueOf<S[Name]> };

const scalar =
  <Value>(type: GraphqlType) =>
  (description?: string): FieldOf<Value> => ({ type, description });

export const id = scalar<string>(ID);
export const text = <Value extends string = string>(description?: string): FieldOf<Value> => ({
  type: String,
  description,
});
export const int = scalar<number>(Int);
export const float = scalar<number>(Float);
export const boolean = scalar<boolean>(Boolean);
export const time = scalar<Date>(GraphQLDateTime);
export const json = scalar<unknown>(GraphQLJSON);
export const jsonObject = scalar<Record<string, unknown>>(GraphQLJSONObject);

/** A value of an enum. */
export function oneOf<Value extends string>(values: Record<string, Value>, description?: string): FieldOf<Value> {
  return { type: values, description };
}

/** A view or an input. */
export function object<Value extends object>(type: ClassType<Value>, description?: string): FieldOf<Value> {
  return { type, description };
}

export function list<Value>(of: FieldOf<Value>): FieldOf<Value[]> {
  return { type: [of.type] as GraphqlType, description: of.description };
}

export function nullable<Value>({ type, description }: FieldOf<Value>): FieldOf<Value | null> {
  return { type, description, nullable: true };
}

/** Base class of a view with these fields. */
export function fields<S extends Shape>(shape: S): new () => View<S> {
  @ObjectType()
  class Fields {}
  declare(Fields, shape);
  return Fields as new () => View<S>;
}

/** Base class of an input with these fields; nullable ones can be absent. */
export function inputFields<S extends Shape>(shape: S): new () => Input<S> {
  @InputType()
  class Fields {}
  declare(Fields, shape);
  return Fields as new () => Input<S>;
}

function declare(target: ClassType, shape: Shape): void {
  for (const [name, { type, description, nullable = false }] of Object.entries(shape)) {
    Field(() => type, { nullable, ...(description === undefined ? {} : { description }) })(target.prototype, name);
  }
}
