"""What a controller asks of a simulation: mass matrix, bias force, Jacobians, centre of mass, momentum.

Kernels are imported where they are called: `import sesshoku` does without them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sesshoku.scene import check
from sesshoku.scene.names import unknown
from sesshoku.scene.scene import Robot
from sesshoku.simulation.robot_views import RobotView
from sesshoku.simulation.state import State


class ControllerDynamics(State):
    """Quantities of the present state, computed anew at each call."""

    def _links_of(self, robot: str | Robot | None) -> list[tuple[int, int]]:
        """Ranges of links: all, or those of one robot."""
        if robot is None:
            return [(0, self.model.link_count)]
        name = robot.name if isinstance(robot, (Robot, RobotView)) else robot
        if name not in self.scene.robots:
            raise unknown("robot", name, self.scene.robots)
        links = {int(self.model.frame_link[self.compiled.frame_index[body]]) for body in self.scene.robots[name].bodies}
        return [(link, link + 1) for link in sorted(links) if link >= 0]

    def center_of_mass(self, robot: str | Robot | None = None) -> np.ndarray:
        """Centre of mass (3) of everything that moves, or of one robot."""
        from sesshoku.dynamics.centroid import center_of_mass

        self.refresh()
        total, weighted, center = 0.0, np.zeros(3), np.zeros(3)
        for first, last in self._links_of(robot):
            mass = center_of_mass(self.model, self.data, first, last, center)
            total += mass
            weighted += mass * center
        return weighted / total if total > 0.0 else weighted

    def momentum(self, robot: str | Robot | None = None, about: Any = None) -> np.ndarray:
        """Linear and angular momentum (6) about a world point, by default the centre of mass."""
        from sesshoku.dynamics.centroid import momentum

        point = self.center_of_mass(robot) if about is None else check.vector(about, "about", "momentum")
        self.refresh()
        total, part = np.zeros(6), np.zeros(6)
        for first, last in self._links_of(robot):
            momentum(self.model, self.data, first, last, point, part)
            total += part
        return total

    def mass_matrix(self) -> np.ndarray:
        """H (V, V) at the present state."""
        from sesshoku.dynamics.crba import mass_matrix

        self.refresh()
        mass_matrix(self.model, self.data, self.data.mass_matrix)
        m, H = self.model, np.zeros((self.model.dof_count, self.model.dof_count))
        for k in range(m.dof_count):
            ancestors = m.row_dof[m.dof_row[k]:m.dof_row[k + 1]]
            H[k, ancestors] = H[ancestors, k] = self.data.mass_matrix[m.dof_row[k]:m.dof_row[k + 1]]
        return H

    def bias_force(self) -> np.ndarray:
        """C v + gravity - external forces (V)."""
        from sesshoku.dynamics.rnea import bias_force, external_wrenches

        self.refresh()
        out = np.empty(self.model.dof_count)
        external_wrenches(self.model, self.data)
        bias_force(self.model, self.data, self.data.v, out)
        return out

    def inverse_dynamics(self, acceleration: Any) -> np.ndarray:
        """Joint forces (V) for joint accelerations (V) at the present state."""
        from sesshoku.dynamics.rnea import external_wrenches, inverse_dynamics

        self.refresh()
        out = np.empty(self.model.dof_count)
        external_wrenches(self.model, self.data)
        wanted = check.vector(acceleration, "acceleration", "inverse_dynamics", size=self.model.dof_count)
        inverse_dynamics(self.model, self.data, self.data.v, wanted, out)
        return out

    def forward_dynamics(self, joint_force: Any) -> np.ndarray:
        """Joint accelerations (V) under joint forces (V), without joint constraints."""
        from sesshoku.dynamics.aba import forward_dynamics

        out = np.empty(self.model.dof_count)
        self.data.implicit_diagonal[:] = 0.0
        given = check.vector(joint_force, "joint_force", "forward_dynamics", size=self.model.dof_count)
        forward_dynamics(self.model, self.data, self.data.q, self.data.v, given, out)
        self._stale = True
        return out

    def jacobian(self, body: str, point: Any = None) -> np.ndarray:
        """J (6, V): velocity of a world point carried by a body (its origin by default) and its angular velocity."""
        from sesshoku.dynamics.jacobian import point_jacobian

        view = self.bodies[body]
        self.refresh()
        at = view.position if point is None else check.vector(point, "point", f"jacobian of body {body!r}")
        J = np.zeros((6, self.model.dof_count))
        if view.link >= 0:
            point_jacobian(self.model, self.data, view.link, at, J)
        return J
