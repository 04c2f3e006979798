const { greet } = require("./greet");

// TODO: take the name from the command line
console.log(greet("world"));
