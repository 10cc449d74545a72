export function stripTypes(file: string, text: string): Promise<string>
